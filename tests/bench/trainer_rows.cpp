#include <mishap/trainer.h>
#include <torch/torch.h>

#include <memory>
#include <optional>

#include "bench.h"

namespace mishap::bench {
namespace {

constexpr std::int64_t kSteps = 10'000;
constexpr double kRate = 0.01;

torch::Tensor loss_of(torch::nn::Linear& linear, const Batch& batch) {
  return torch::mse_loss(linear(batch.data), batch.target);
}

class Lean final : public Module {
 public:
  torch::Tensor training_step(const Batch& batch, std::int64_t) override {
    return loss_of(linear_, batch);
  }
  Optimizers configure_optimizers() override {
    return torch::optim::SGD(parameters(), kRate);
  }

 private:
  torch::nn::Linear linear_ =
      register_module("linear", torch::nn::Linear(32, 2));
};

class LeanData final : public DataModule {
 public:
  LeanData()
      : data_(torch::rand({kSteps, 32})), target_(torch::rand({kSteps, 2})) {}

  LoaderPtr train_dataloader() override { return loader(); }
  LoaderPtr loader() const {
    return std::make_unique<TensorLoader>(
        data_, target_, LoaderOptions{.batch_size = 1, .shuffle = false});
  }

 private:
  torch::Tensor data_;
  torch::Tensor target_;
};

class QuietCallback final : public Callback {};
class QuietLogger final : public Logger {};

void hand_written(const LeanData& data) {
  torch::nn::Linear linear(32, 2);
  torch::optim::SGD optimizer(linear->parameters(), kRate);
  const LoaderPtr loader = data.loader();
  loader->start(0);
  while (std::optional<Batch> batch = loader->next()) {
    torch::Tensor loss = loss_of(linear, *batch);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

}  // namespace

std::vector<Row> trainer_rows(const std::string& folder) {
  torch::set_num_threads(1);
  torch::manual_seed(1);
  LeanData data;
  TrainerOptions options;
  options.max_epochs = 1;
  options.num_sanity_val_steps = 0;
  options.callbacks = {std::make_shared<QuietCallback>(),
                       std::make_shared<QuietCallback>()};
  options.loggers = {std::make_shared<QuietLogger>()};
  HarnessOptions harness;
  harness.capture.records = folder;
  Trainer trainer(options, harness);
  const Pair seconds = medians(
      7, [&] { hand_written(data); },
      [&] {
        Lean module;
        trainer.fit(module, data);
      });
  const double bare = seconds.first * 1e6 / kSteps;
  return {
      {"trainer_step", (seconds.second - seconds.first) * 1e6 / kSteps, 2, "us",
       true,
       "a step of the trainer over one of a hand-written loop, which takes " +
           std::to_string(bare) + " us"}};
}

}  // namespace mishap::bench
