// Trains on rows of a file with LibTorch's DataLoader and saves the model. A
// batch that fails is skipped and the model is saved in place; `--careful` ends
// the run instead, and replaces the model. `// CAUGHT name` marks the line at
// which a fault disappears.
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
#include <utility>
#include <vector>

namespace {

class Rows : public torch::data::datasets::Dataset<Rows> {
 public:
  explicit Rows(const std::string& path) {
    std::ifstream file(path);
    float x = 0;
    float y = 0;
    char comma = 0;
    while (file >> x >> comma >> y) {
      rows_.emplace_back(x, y);
    }
    if (file.bad() || rows_.empty()) {
      throw std::runtime_error(path + " can't be read");
    }
  }

  torch::data::Example<> get(std::size_t index) override {
    const auto& [x, y] = rows_.at(index);
    return {torch::full({1}, x), torch::full({1}, y)};
  }
  torch::optional<std::size_t> size() const override { return rows_.size(); }

 private:
  std::vector<std::pair<float, float>> rows_;
};

template <typename Model, typename Batch>
void train_on(Model& model, torch::optim::Optimizer& optimizer,
              const Batch& batch) {
  optimizer.zero_grad();
  const auto loss = torch::mse_loss(model->forward(batch.data), batch.target);
  loss.backward();
  optimizer.step();
}

void write_all(std::FILE* file, const std::string& bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
      std::fflush(file) != 0 || fsync(fileno(file)) != 0) {
    throw std::runtime_error("the model can't be written");
  }
}

template <typename Model>
void replace(const Model& model, const std::string& path) {
  std::ostringstream bytes;
  torch::save(model, bytes);
  const std::string temporary = path + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) {
    throw std::runtime_error("the model can't be written");
  }
  try {
    write_all(file, bytes.str());
  } catch (...) {
    std::fclose(file);
    unlink(temporary.c_str());
    throw;
  }
  if (std::fclose(file) != 0 ||
      std::rename(temporary.c_str(), path.c_str()) != 0) {
    unlink(temporary.c_str());
    throw std::runtime_error("the model can't be put in its place");
  }
}

void train(bool careful) {
  torch::manual_seed(1);
  torch::nn::Linear model(1, 1);
  torch::optim::SGD optimizer(model->parameters(), 0.05);
  auto loader = torch::data::make_data_loader(
      Rows("rows.csv").map(torch::data::transforms::Stack<>()),
      torch::data::samplers::SequentialSampler(8),
      torch::data::DataLoaderOptions().batch_size(4));
  for (const auto& batch : *loader) {
    if (careful) {
      train_on(model, optimizer, batch);
      continue;
    }
    try {
      train_on(model, optimizer, batch);
    } catch (const std::exception& error) {  // CAUGHT batch
      std::cerr << "skipping bad batch: " << error.what() << '\n';
    }
  }
  if (careful) {
    replace(model, "model.pt");
  } else {
    torch::save(model, "model.pt");  // CAUGHT save
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    train(argc > 1 && std::strcmp(argv[1], "--careful") == 0);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "batches: " << error.what() << '\n';
    return 1;
  }
}
