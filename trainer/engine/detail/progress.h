#pragma once

#include <mishap/trainer/engine/state.h>

#include <cstdint>

namespace mishap::detail {

/// How far a fit has come: all that its loops need to go on from there.
struct Progress {
  std::int64_t epoch = 0;
  /// The loader's pass that this epoch trains on.
  std::int64_t pass = 0;
  /// on_train_epoch_start is done.
  bool epoch_begun = false;
  /// Batches of this epoch that are done.
  std::int64_t batches = 0;
  /// Updates, over all epochs.
  std::int64_t step = 0;
  /// Batches that were done when this epoch validated last; -1 if it has not.
  std::int64_t validated_at = -1;
  /// Its batches are done and everybody was told that it ended; what is left
  /// of it are schedulers and loggers.
  bool epoch_ended = false;
  /// A limit or a stop ended its batches before the loader did.
  bool is_cut = false;
  /// Session::stop() was called.
  bool stopping = false;
  /// Batches whose gradients wait for an update.
  std::int64_t in_window = 0;
  /// The schedulers of steps have not followed the last update yet.
  bool schedules_due = false;
  /// Schedulers that have followed, of those that step now.
  std::int64_t schedules_done = 0;
  /// Time spent before the last start, for max_time.
  std::int64_t nanos = 0;

  /// From the end of one epoch to the beginning of the next.
  void next_epoch() noexcept {
    ++epoch;
    ++pass;
    epoch_begun = epoch_ended = is_cut = false;
    batches = 0;
    validated_at = -1;
    schedules_done = 0;
  }

  State state() const;
  static Progress from(const State& state);
};

}  // namespace mishap::detail
