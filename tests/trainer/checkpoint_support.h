#pragma once

#include <mishap/trainer/engine/make_loader.h>

#include <string>

#include "engine_support.h"

namespace mishap::engine_test {

inline constexpr std::int64_t kSamples = 14;
inline constexpr std::int64_t kEpochs = 3;

class PairsDataset final
    : public torch::data::datasets::BatchDataset<PairsDataset, Batch> {
 public:
  PairsDataset(torch::Tensor data, torch::Tensor target)
      : data_(std::move(data)), target_(std::move(target)) {}
  Batch get_batch(c10::ArrayRef<std::size_t> indices) override {
    const torch::Tensor rows = torch::tensor(
        std::vector<std::int64_t>(indices.begin(), indices.end()));
    return {data_.index_select(0, rows), target_.index_select(0, rows), {}};
  }
  compat::DatasetSize size() const override {
    return static_cast<std::size_t>(data_.size(0));
  }

 private:
  torch::Tensor data_;
  torch::Tensor target_;
};

struct ManyData : DataModule {
  explicit ManyData(std::int64_t workers_) : workers(workers_) {}
  LoaderPtr train_dataloader() override { return load(true); }
  LoaderPtr val_dataloader() override { return load(false); }

  LoaderPtr load(bool shuffle) const {
    // Its order follows the trainer's seed: a resumed fit must take it over.
    const LoaderOptions options{
        .batch_size = 4, .workers = workers, .shuffle = shuffle};
    const torch::Tensor data =
        torch::arange(kSamples * 3, torch::kFloat32).reshape({kSamples, 3}) /
        40;
    const torch::Tensor target = torch::arange(kSamples, torch::kInt64) % 2;
    if (workers > 0) {
      return make_loader(PairsDataset(data, target), options);
    }
    return std::make_unique<TensorLoader>(data, target, options);
  }

  std::int64_t workers;
};

// Random numbers in the step, momentum, three kinds of scheduler, a count of
// its own, a buffer.
struct BusyModule : TinyModule {
  torch::nn::BatchNorm1d norm =
      register_module("norm", torch::nn::BatchNorm1d(3));

  BusyModule() {
    torch::manual_seed(3);
    const torch::NoGradGuard no_grad;
    for (torch::Tensor& parameter : parameters()) {
      parameter.uniform_(-0.5, 0.5);
    }
  }
  torch::Tensor training_step(const Batch& batch, std::int64_t index) override {
    ++steps_seen;
    Batch normed = batch;
    normed.data = norm(batch.data);
    return TinyModule::training_step(normed, index);
  }
  Optimizers configure_optimizers() override {
    return Optimizers(torch::optim::Adam(parameters(), 0.05))
        .schedule<torch::optim::StepLR>(Optimizers::Every::kStep, 2, 0.9)
        .schedule<torch::optim::StepLR>(Optimizers::Every::kEpoch, 1, 0.5)
        .reduce_on_plateau({.monitor = "loss", .patience = 0});
  }
  void on_save_checkpoint(State& state) override {
    state.set("steps_seen", steps_seen);
  }
  void on_load_checkpoint(const State& state) override {
    steps_seen = state.integer("steps_seen");
  }
  std::int64_t steps_seen = 0;
};

// Draws in hooks that a resumed batch or epoch runs again.
struct DrawsBefore : Callback {
  void on_train_epoch_start(Session&) override { torch::rand({1}); }
  void on_train_batch_start(Session&, const Batch&, std::int64_t) override {
    torch::rand({1});
  }
  void on_before_backward(Session&, const torch::Tensor&) override {
    torch::rand({1});
  }
};

// And in those that come between a save and the next batch.
struct Draws : DrawsBefore {
  void on_train_batch_end(Session&, const torch::Tensor&, const Batch&,
                          std::int64_t) override {
    torch::rand({1});
  }
  void on_validation_end(Session&) override { torch::rand({1}); }
  void on_train_epoch_end(Session&) override { torch::rand({1}); }
};

inline std::string bytes_of(const Module& module) {
  std::string bytes;
  const auto add = [&](const torch::Tensor& tensor) {
    const torch::Tensor flat = tensor.detach().contiguous();
    bytes.append(static_cast<const char*>(flat.data_ptr()), flat.nbytes());
  };
  for (const torch::Tensor& parameter : module.parameters()) {
    add(parameter);
  }
  for (const torch::Tensor& buffer : module.buffers()) {
    add(buffer);
  }
  return bytes;
}

}  // namespace mishap::engine_test
