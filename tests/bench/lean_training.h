#pragma once

#include <mishap/trainer.h>
#include <torch/torch.h>

#include <cstdint>
#include <memory>

namespace mishap::bench {

/// How long a bare training step took on the machine whose times the targets
/// are stated in.
inline constexpr double kBareStepMicros = 29;

/// One linear layer, 32 inputs, 2 outputs.
class Lean : public Module {
 public:
  torch::Tensor training_step(const Batch& batch, std::int64_t) override {
    return loss_of(linear_, batch);
  }
  Optimizers configure_optimizers() override {
    return torch::optim::SGD(parameters(), kRate);
  }

  static torch::Tensor loss_of(torch::nn::Linear& linear, const Batch& batch) {
    return torch::mse_loss(linear(batch.data), batch.target);
  }
  static constexpr double kRate = 0.01;

 private:
  torch::nn::Linear linear_ =
      register_module("linear", torch::nn::Linear(32, 2));
};

/// Random batches of one sample for training.
class LeanData : public DataModule {
 public:
  explicit LeanData(std::int64_t batches)
      : data_(torch::rand({batches, 32})), target_(torch::rand({batches, 2})) {}

  LoaderPtr train_dataloader() override { return first(data_.size(0)); }

  /// The first so many batches, in order.
  LoaderPtr first(std::int64_t batches) const {
    return std::make_unique<TensorLoader>(
        data_.slice(0, 0, batches), target_.slice(0, 0, batches),
        LoaderOptions{.batch_size = 1, .shuffle = false});
  }

 private:
  torch::Tensor data_;
  torch::Tensor target_;
};

/// Training by a loop without a trainer: same loader, same optimizer.
void train_by_hand(LeanData& data);

/// Microseconds of one step of train_by_hand() on this machine, now.
double bare_step_micros();

}  // namespace mishap::bench
