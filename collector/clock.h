#pragma once

#include <cstdint>

namespace mishap::collector {

/// The two clocks of a record. Wall time is for people and may jump; steady
/// time is for durations and for order within a process and never goes back.
///
/// Both functions are thread-safe and async-signal-safe. Tests give their own.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Nanoseconds since 1970-01-01 UTC.
  virtual std::int64_t unix_nano() const noexcept = 0;
  /// Nanoseconds since some moment before the process started.
  virtual std::int64_t steady_nano() const noexcept = 0;

  /// The clocks of the machine.
  static const Clock& system() noexcept;
};

/// Number of the next record of this process: 1, 2, ... Orders records whose
/// clocks tie. Thread-safe, async-signal-safe.
std::uint64_t next_sequence() noexcept;

}  // namespace mishap::collector
