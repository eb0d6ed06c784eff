// Fits soft discs to a picture, in the shape of programs that fit splats: load
// an image, a step loop with Adam, a result file at the end. A step that fails
// is skipped and the result is written over the old one; `--careful` ends the
// run instead, and replaces the result. `// CAUGHT name` marks the line at
// which a fault disappears.
#include <fcntl.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kDiscs = 4;
constexpr int kSteps = 3;

// A plain grey picture: `P2 width height greatest values…`.
torch::Tensor load_image(const std::string& path) {
  std::ifstream file(path);
  std::string kind;
  std::int64_t width = 0;
  std::int64_t height = 0;
  float greatest = 0;
  file >> kind >> width >> height >> greatest;
  if (!file || kind != "P2" || width < 1 || height < 1 || greatest <= 0) {
    throw std::runtime_error(path + " is no picture");
  }
  std::vector<float> values(static_cast<std::size_t>(width * height));
  for (float& value : values) {
    file >> value;
  }
  if (!file) {
    throw std::runtime_error(path + " is cut short");
  }
  return torch::from_blob(values.data(), {height, width}).clone() / greatest;
}

struct DiscsImpl : torch::nn::Module {
  DiscsImpl() {
    place = register_parameter("place", torch::rand({kDiscs, 2}));
    size = register_parameter("size", torch::full({kDiscs, 1, 1}, 4.0));
    grey = register_parameter("grey", torch::rand({kDiscs, 1, 1}));
  }

  torch::Tensor forward(std::int64_t height, std::int64_t width) {
    const auto rows = torch::linspace(0, 1, height).view({1, height, 1});
    const auto columns = torch::linspace(0, 1, width).view({1, 1, width});
    const auto x = place.select(1, 0).view({kDiscs, 1, 1});
    const auto y = place.select(1, 1).view({kDiscs, 1, 1});
    const auto away = (rows - y).pow(2) + (columns - x).pow(2);
    return (grey * torch::exp(-away * size)).sum(0);
  }

  torch::Tensor place;
  torch::Tensor size;
  torch::Tensor grey;
};
TORCH_MODULE(Discs);

void step(Discs& discs, torch::optim::Adam& optimizer,
          const torch::Tensor& image) {
  optimizer.zero_grad();
  const auto loss =
      torch::mse_loss(discs->forward(image.size(0), image.size(1)), image);
  loss.backward();
  optimizer.step();
  std::cout << "loss " << loss.item<float>() << '\n';
}

std::string as_text(const Discs& discs) {
  std::ostringstream text;
  text.exceptions(std::ios::badbit);
  for (const auto& parameter : discs->named_parameters()) {
    const auto values = parameter.value().detach().flatten();
    text << parameter.key();
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      text << ' ' << values[i].item<float>();
    }
    text << '\n';
  }
  return text.str();
}

void write_over(const std::string& path, const std::string& text) {
  std::ofstream file(path);  // CAUGHT open
  file << text;
  file.close();  // CAUGHT save
}

void write_all(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written <= 0) {
      throw std::runtime_error("the result can't be written");
    }
    done += static_cast<std::size_t>(written);
  }
  if (fsync(file) != 0) {
    throw std::runtime_error("the result can't be brought to the disk");
  }
}

void replace(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  const int file =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) {
    throw std::runtime_error("the result can't be written");
  }
  try {
    write_all(file, text);
  } catch (...) {
    close(file);
    unlink(temporary.c_str());
    throw;
  }
  if (close(file) != 0 || std::rename(temporary.c_str(), path.c_str()) != 0) {
    unlink(temporary.c_str());
    throw std::runtime_error("the result can't be put in its place");
  }
}

void fit(bool careful) {
  torch::manual_seed(1);
  const auto image = load_image("image.pgm");
  Discs discs;
  torch::optim::Adam optimizer(discs->parameters(), 0.05);
  for (int i = 0; i < kSteps; ++i) {
    if (careful) {
      step(discs, optimizer, image);
      continue;
    }
    try {
      step(discs, optimizer, image);
    } catch (const c10::Error& error) {  // CAUGHT step
      std::cerr << "skipping step " << i << '\n';
    }
  }
  const std::string text = as_text(discs);
  if (careful) {
    replace("discs.txt", text);
  } else {
    write_over("discs.txt", text);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    fit(argc > 1 && std::strcmp(argv[1], "--careful") == 0);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "image_fit: " << error.what() << '\n';
    return 1;
  }
}
