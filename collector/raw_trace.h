#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mishap::collector {

/// How a stack came to be; a catch-site stack is never shown as a throw-site
/// one.
enum class StackOrigin : std::uint8_t {
  kNone,
  kThrow,
  kCatch,
  kSignal,
  kTerminate,
  kWatchdog,
  kReported,
  /// Where an injected fault struck that threw nothing.
  kFault,
};

/// The return addresses of one stack, innermost first, as they were captured:
/// names come later, possibly in another process.
///
/// Trivially copyable, so that it can be taken while memory is exhausted.
struct RawTrace {
  static constexpr std::size_t kMaxFrames = 64;

  std::array<std::uintptr_t, kMaxFrames> addresses{};
  std::uint16_t size = 0;
  /// Frames beyond kMaxFrames were left out.
  bool truncated = false;
  /// The first address is the faulting instruction itself, not a return
  /// address (stacks taken from a signal).
  bool exact_first = false;
};

}  // namespace mishap::collector
