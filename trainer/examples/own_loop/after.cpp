// Fits a line to noisy points: options, one try, a step loop, a checkpoint at
// the end.
#include <mishap/guard.h>
#include <torch/torch.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

struct Options {
  std::int64_t epochs = 3;
  std::int64_t steps = 50;
  double learning_rate = 0.1;
  std::string checkpoint = "line.pt";
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--epochs") {
      options.epochs = std::stoll(value);
    } else if (name == "--steps") {
      options.steps = std::stoll(value);
    } else if (name == "--checkpoint") {
      options.checkpoint = value;
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  return options;
}

void train(const Options& options, mishap::Run& run) {
  torch::manual_seed(1);
  torch::nn::Linear line(1, 1);
  torch::optim::SGD optimizer(line->parameters(), options.learning_rate);
  for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    torch::Tensor loss;
    run.epoch(epoch);
    for (std::int64_t step = 0; step < options.steps; ++step) {
      run.step(epoch * options.steps + step);
      const torch::Tensor x = torch::rand({16, 1});
      const torch::Tensor y = 3 * x - 1 + 0.01 * torch::randn({16, 1});
      loss = torch::mse_loss(line(x), y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    std::cout << "epoch " << epoch << " loss " << loss.item<double>() << '\n';
  }
  torch::save(line, options.checkpoint);
}

}  // namespace

int main(int argc, char** argv) {
  return mishap::guarded_main(argc, argv, [&] {
    const auto faults = mishap::arm_from_environment();
    const Options options = parse(argc, argv);
    mishap::guard("fit", [&](mishap::Run& run) { train(options, run); });
  });
}
