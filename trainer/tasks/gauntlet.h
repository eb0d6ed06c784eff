#pragma once

#include <mishap/trainer/engine/data_module.h>
#include <mishap/trainer/engine/module.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace mishap::tasks {

/// A generator and its critic on points of a ring: a task made to be hard to
/// clean up after.
struct GauntletOptions {
  std::int64_t epochs = 20;
  std::int64_t batch_size = 32;
  /// Points of each part.
  std::int64_t points = 512;
  /// Outputs of each hidden layer.
  std::int64_t hidden = 16;
  double learning_rate = 1e-3;
  /// Threads that prepare batches for validation, test and predict.
  std::int64_t workers = 1;
  /// Seeds the initial weights; unset takes the generator as it is.
  std::optional<std::uint64_t> seed = std::nullopt;
};

/// The same task at its smallest, for sweeps.
GauntletOptions tiny_gauntlet();

/// Two networks with an optimizer each, stepped by hand; what the generator
/// makes goes through an autograd function of our own. Logs both losses, and in
/// evaluation how many points the critic tells right.
class GauntletModule : public Module {
 public:
  explicit GauntletModule(const GauntletOptions& options = {});

  bool automatic_optimization() const override { return false; }
  torch::Tensor training_step(const Batch& batch, std::int64_t index) override;
  void validation_step(const Batch& batch, std::int64_t index) override;
  void test_step(const Batch& batch, std::int64_t index) override;
  /// The critic's score of each point.
  torch::Tensor predict_step(const Batch& batch, std::int64_t index) override;
  Optimizers configure_optimizers() override;

 private:
  torch::Tensor make_points(std::int64_t count);
  torch::Tensor score(const torch::Tensor& points);
  torch::Tensor train_critic(const torch::Tensor& points);
  torch::Tensor train_generator(std::int64_t count);
  void evaluate(const Batch& batch);

  double learning_rate_;
  torch::nn::Sequential generator_;
  torch::nn::Sequential critic_;
};

/// Points of a ring, computed. Its training loader reads each batch again, up
/// to three times, when that fails with a standard exception.
class GauntletData : public DataModule {
 public:
  explicit GauntletData(GauntletOptions options = {});

  void setup(std::string_view entry_point) override;
  void teardown() override;

  LoaderPtr train_dataloader() override;
  LoaderPtr val_dataloader() override;
  LoaderPtr test_dataloader() override;
  LoaderPtr predict_dataloader() override;

 private:
  LoaderPtr load_with_workers() const;

  GauntletOptions options_;
  torch::Tensor points_;
};

}  // namespace mishap::tasks
