#pragma once

#include <cstdint>

namespace mishap {

/// How the values that were logged under one name in an epoch become one.
enum class Reduce : std::uint8_t {
  /// Weighted with the samples of the batch.
  kMean,
  kSum,
  kMin,
  kMax,
  kLast,
};

/// What becomes of a logged value. Of one name the first call in an epoch
/// decides.
struct LogOptions {
  /// Goes to the loggers as the value of its step, every log_every_n_steps.
  bool on_step = true;
  /// Goes, reduced, to the loggers and into Session::metrics() at the end of
  /// the epoch.
  bool on_epoch = true;
  Reduce reduce = Reduce::kMean;
  /// Shown by ProgressBar.
  bool progress_bar = false;
};

}  // namespace mishap
