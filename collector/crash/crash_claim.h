#pragma once

#include <cstdint>

namespace mishap::collector::detail {

/// Which thread of the process fails first: it alone tells of the crash, the
/// other ones wait for it. All functions are async-signal-safe.
class CrashClaim {
 public:
  enum class Reach : std::uint8_t { kHandler, kThread };

  enum class Answer : std::uint8_t {
    /// Nobody failed before: tell.
    kFirst,
    /// This thread told of a crash already, and the process ends of it.
    kTold,
    /// This thread failed again, in the very handler that tells.
    kNested,
  };

  /// For the handler's first line; `frame` is an address in its frame. Another
  /// thread's crash is waited for, a minute at most; whoever waited that long
  /// is the first one. `Reach::kThread`: whatever fails on this thread
  /// afterwards belongs to this crash; else what fails in the handler.
  static Answer make(std::uintptr_t frame, Reach reach) noexcept;

  /// All is told; what comes now only ends the process.
  static void tell_done() noexcept;

  /// The process goes on after all: a handler of the program's own mended it.
  static void release() noexcept;
};

}  // namespace mishap::collector::detail
