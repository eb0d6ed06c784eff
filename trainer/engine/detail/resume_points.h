#pragma once

#include <mishap/trainer/engine/detail/call.h>
#include <mishap/trainer/engine/detail/progress.h>
#include <mishap/trainer/engine/detail/random_state.h>
#include <mishap/trainer/engine/metric_store.h>

#include <optional>

namespace mishap::detail {

/// The places in a fit from which it can go on exactly: after an update, after
/// a validation, at the ends of an epoch. Here the run may be in the middle of
/// something, so what later code changes is kept if it is wanted.
class ResumePoints {
 public:
  struct Point {
    Progress progress;
    MetricStore metrics;
    RandomState random;
    /// Of the module, when the run may be further than this.
    State buffers;
  };

  explicit ResumePoints(Call& call) : call_(call) {}

  Progress& progress() noexcept { return progress_; }
  /// Of the epoch that is running.
  MetricStore& metrics() noexcept { return metrics_; }

  /// Keeps the points from now on.
  void keep();

  /// The run is at such a place; it stays there until go_on(). One in the
  /// middle of a window of accumulated batches is not kept.
  void reach();
  void go_on();

  /// The point that a checkpoint is of: here, or the last that was kept.
  /// Nothing when the parameters are half updated or no point was kept.
  std::optional<Point> point();

 private:
  Point here();
  void keep_here();

  Call& call_;
  Progress progress_;
  MetricStore metrics_;
  bool is_here_ = false;
  bool may_be_kept_ = true;
  bool keeps_ = false;
  std::optional<Point> kept_;
};

}  // namespace mishap::detail
