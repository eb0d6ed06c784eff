#pragma once

#include <mishap/faultinject/action.h>
#include <mishap/faultinject/point.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace mishap::faultinject {

/// One action that ran.
struct Firing {
  PointId point;
  /// Which hit of this point it was since arming, from 1.
  std::uint64_t hit = 0;
  std::size_t rule = 0;
  ActionKind kind = ActionKind::kOff;
  /// The action with its arguments.
  std::string action;
  /// A plan of one item that repeats this firing and no other.
  std::string spec;
  std::uint64_t seed = 0;
};

/// A firing as the ground truth of an error record. Fixed storage, trivially
/// copyable, terminated by zeros: readable while memory is exhausted.
struct FiringLabel {
  char point[192] = {};
  char action[1024] = {};
  char spec[1280] = {};
  std::uint64_t hit = 0;
  std::uint64_t seed = 0;
  /// Rises by one with every firing of the process, from 1.
  std::uint64_t sequence = 0;
  /// Of the run at the firing; -1: none.
  std::int64_t step = -1;
  const void* owner = nullptr;
  /// Some text did not fit and was cut.
  bool truncated = false;
};

/// The last firing on this thread, or null. No lock, no allocation; stays what
/// it is until the thread's next firing.
const FiringLabel* last_fired_on_this_thread() noexcept;

/// Copies the last firing of the process, which may have been on another
/// thread (a loader's worker, a hung thread). False when there was none. No
/// lock, no allocation.
bool last_fired(FiringLabel& label) noexcept;

/// How many firings the process has seen. A label belongs to a run if its
/// sequence is above what this said when the run began.
std::uint64_t firing_sequence() noexcept;

}  // namespace mishap::faultinject
