#pragma once

#include <mishap/trainer/engine/detail/call.h>
#include <mishap/trainer/engine/detail/evaluation.h>
#include <mishap/trainer/engine/detail/fit_checkpoints.h>
#include <mishap/trainer/engine/detail/resume_points.h>
#include <mishap/trainer/engine/detail/train_step.h>
#include <mishap/trainer/guard/signal_request.h>

#include <chrono>
#include <filesystem>
#include <optional>

namespace mishap::detail {

/// What fit does between setup and teardown.
class FitLoop final : public FitControl {
 public:
  explicit FitLoop(Call& call);
  ~FitLoop() override;

  /// Goes on from `checkpoint` unless that is empty.
  void run(const std::filesystem::path& checkpoint);

  torch::optim::Optimizer& optimizer(std::size_t index) override;
  std::size_t optimizers() const override;
  std::int64_t batches_in_epoch() const override;
  void save_checkpoint(std::span<const std::filesystem::path> paths,
                       const std::function<void(std::size_t)>& saved) override;
  void keep_resume_points() override { points_.keep(); }
  bool can_save() override;
  std::int64_t step_to_resume() override;

 private:
  bool trains() const;
  bool validates() const;
  bool validates_in_this_epoch() const;
  LoadersInUse& val_loaders();

  void check_sanity();
  void train();
  void size_up(const LoadersInUse& train);
  void train_epoch(LoadersInUse& train);
  void begin_epoch();
  void train_batches(LoadersInUse& train);
  bool is_last(std::int64_t index) const noexcept;
  void validate_inside_epoch();
  void validate_unless_done();
  void validate();
  void end_epoch();
  void step_schedules();
  void log_epoch();
  void save_if_asked();
  bool done() const;
  std::int64_t nanos_spent() const;

  Call& call_;
  ResumePoints points_;
  Progress& progress_;
  FitCheckpoints checkpoints_;
  TrainStep step_;
  std::optional<SignalRequest> asked_to_save_;
  bool owes_save_ = false;
  LoadersInUse* val_loaders_ = nullptr;
  /// Batches of an epoch as the options bound them. Without a bound only the
  /// loader's own end ends it, whatever it says of its size.
  std::optional<std::int64_t> limit_;
  /// And as they are expected; unset when that is not known.
  std::optional<std::int64_t> batches_;
  std::optional<std::int64_t> val_interval_;
  std::chrono::steady_clock::time_point start_;
  bool resumes_ = false;
};

}  // namespace mishap::detail
