#pragma once

#include <mishap/trainer/engine/detail/call.h>
#include <mishap/trainer/engine/detail/resume_points.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace mishap::detail {

/// One training batch: the step, its backward pass and, when a window of
/// accumulated batches is full, the update. Allocates nothing of its own while
/// it runs.
class TrainStep final : public ManualOptimization {
 public:
  /// Counts in `points` what is done, and reaches them.
  TrainStep(Call& call, ResumePoints& points);
  TrainStep(const TrainStep&) = delete;
  TrainStep& operator=(const TrainStep&) = delete;

  /// `is_last`: of its epoch, so that the window ends.
  void run(const Batch& batch, std::int64_t index, bool is_last);

  /// Does what the update before a resume left to be done.
  void catch_up();

  /// Makes the update of a window that the end of the epoch cut short.
  void finish_window();

  /// Steps the schedulers that `is_due` says, but those that have stepped
  /// already when a failure came in between.
  template <class Due>
  void step_schedules(Due is_due) {
    auto& schedules = call_.optimizers().schedules();
    while (progress_.schedules_done <
           static_cast<std::int64_t>(schedules.size())) {
      Optimizers::Schedule& schedule =
          schedules[static_cast<std::size_t>(progress_.schedules_done)];
      if (is_due(schedule)) {
        step(schedule);
      } else {
        ++progress_.schedules_done;
      }
    }
  }

  // -- optimisation by hand -------------------------------------------------

  void backward(const torch::Tensor& loss) override;
  void step(std::size_t optimizer) override;
  void zero_grad(std::size_t optimizer) override;

 private:
  void train(bool is_last);
  void train_by_hand();
  void update(std::size_t optimizer, const Module::Closure& closure);
  torch::Tensor compute();
  torch::Tensor compute_for_update();
  torch::Tensor checked_loss();
  void clear_gradients(std::size_t optimizer);
  void go_back_through(torch::Tensor loss);
  void before_update(std::size_t optimizer);
  void batch_done();
  void step(Optimizers::Schedule& schedule);
  double monitored(const std::string& metric) const;
  bool watches_this_loss() const;
  void log_step();

  Call& call_;
  ResumePoints& points_;
  Progress& progress_;
  const bool is_automatic_;
  const Module::Closure closure_;
  const Batch* batch_ = nullptr;
  std::int64_t index_ = 0;
  /// Done when this update is.
  std::int64_t batches_ = 0;
  torch::Tensor loss_;
};

}  // namespace mishap::detail
