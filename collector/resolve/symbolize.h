#pragma once

#include <mishap/collector/raw_trace.h>
#include <mishap/collector/resolve/frame.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mishap::collector {

/// What was written into a caller's frames.
struct FrameCount {
  std::size_t frames = 0;
  /// Leading frames left out because they only throw: `__cxa_throw`,
  /// `c10::detail::torchCheckFail`, `std::__throw_...` and their like.
  std::size_t stripped = 0;
  /// Addresses that were located but not named, since the time was up.
  std::size_t unnamed = 0;
  /// The trace, or `out`, was too short for the whole stack.
  bool truncated = false;
};

/// A stack with names, innermost first.
struct SymbolizedStack {
  std::vector<Frame> frames;
  std::size_t stripped = 0;
  bool truncated = false;
};

/// Modules and offsets only, one frame for each address: microseconds, and no
/// debug information is read. Thread-safe, never throws.
FrameCount locate(const RawTrace& trace, std::span<Frame> out) noexcept;

/// No end to the time that names may take.
inline constexpr std::int64_t kNoDeadline = INT64_MAX;

/// All of a frame, in the caller's storage. Costs what resolve() costs. From
/// `deadline` (Clock::steady_nano) on, frames are located and keep their names
/// for later: one look-up may pass it, the next does not begin. Thread-safe,
/// never throws.
FrameCount symbolize(const RawTrace& trace, std::span<Frame> out,
                     std::int64_t deadline = kNoDeadline) noexcept;

/// All of a frame, every one of them. Throws std::bad_alloc only.
SymbolizedStack symbolize(const RawTrace& trace);

}  // namespace mishap::collector
