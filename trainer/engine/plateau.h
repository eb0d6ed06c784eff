#pragma once

#include <mishap/trainer/engine/state.h>
#include <torch/torch.h>

#include <cstdint>
#include <limits>
#include <string>

namespace mishap {

/// Whether smaller or larger values of a metric are better.
enum class Better : std::uint8_t { kLower, kHigher };

/// When a learning rate is lowered because a metric no longer improves; the
/// rules of torch.optim.lr_scheduler.ReduceLROnPlateau with a relative
/// threshold.
struct PlateauOptions {
  /// A metric that the module logs.
  std::string monitor;
  Better better = Better::kLower;
  /// The learning rates are multiplied with it.
  double factor = 0.1;
  /// Epochs without improvement that are borne.
  std::int64_t patience = 10;
  /// An improvement is relative to the best value, and larger than this.
  double threshold = 1e-4;
  /// Epochs after a reduction during which nothing is counted.
  std::int64_t cooldown = 0;
  double min_lr = 0;
};

/// Lowers the learning rates of an optimizer, which must outlive it.
class ReduceOnPlateau {
 public:
  /// Throws InputError for options that make no sense.
  ReduceOnPlateau(torch::optim::Optimizer& optimizer, PlateauOptions options);

  /// After an epoch, with the monitored metric.
  void step(double metric);

  const PlateauOptions& options() const noexcept { return options_; }
  State state() const;
  void load_state(const State& state);

 private:
  bool improves(double metric) const noexcept;
  void reduce();

  torch::optim::Optimizer& optimizer_;
  PlateauOptions options_;
  double best_;
  std::int64_t bad_epochs_ = 0;
  std::int64_t cooling_ = 0;
};

}  // namespace mishap
