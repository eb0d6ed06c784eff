#pragma once

#include <mishap/trainer/engine/detail/call.h>

#include <cstdint>

namespace mishap::detail {

/// One training batch: the step, its backward pass and the update. Allocates
/// nothing of its own while it runs.
class TrainStep {
 public:
  TrainStep(Call& call, Optimizers& optimizers);
  TrainStep(const TrainStep&) = delete;
  TrainStep& operator=(const TrainStep&) = delete;

  void run(const Batch& batch, std::int64_t index);

  /// Updates done so far.
  std::int64_t steps() const noexcept { return steps_; }

 private:
  void update();
  torch::Tensor compute();
  torch::Tensor checked_loss();
  bool watches_this_loss() const;
  void log_step();

  Call& call_;
  torch::optim::Optimizer& optimizer_;
  Optimizers& optimizers_;
  const Module::Closure closure_;
  const Batch* batch_ = nullptr;
  std::int64_t index_ = 0;
  std::int64_t steps_ = 0;
  torch::Tensor loss_;
};

}  // namespace mishap::detail
