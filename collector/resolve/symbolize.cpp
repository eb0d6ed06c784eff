#include <mishap/collector/clock.h>
#include <mishap/collector/resolve/in_app.h>
#include <mishap/collector/resolve/resolver.h>
#include <mishap/collector/resolve/symbolize.h>

#include <algorithm>
#include <array>

namespace mishap::collector {
namespace {

constexpr std::size_t kMaxInlined = 32;
using InlinedFrames = std::array<Frame, kMaxInlined>;

bool is_exact(const RawTrace& trace, std::size_t index) {
  return index == 0 && trace.exact_first;
}

// Hands every frame that does more than throw to `add`, until it says no.
template <typename Add>
FrameCount for_each_frame(const RawTrace& trace, std::int64_t deadline,
                          Add add) {
  FrameCount count;
  count.truncated = trace.truncated;
  InlinedFrames storage;
  for (std::size_t i = 0; i < trace.size; ++i) {
    std::size_t size = 1;
    if (deadline != kNoDeadline && Clock::system().steady_nano() >= deadline) {
      storage[0] = locate(trace.addresses[i]);
      storage[0].in_app = is_in_app(storage[0]);
      ++count.unnamed;
    } else {
      size = resolve(trace.addresses[i], is_exact(trace, i), storage);
    }
    for (const Frame& frame : std::span(storage).first(size)) {
      if (count.frames == 0 && only_throws(frame)) {
        ++count.stripped;
      } else if (add(frame)) {
        ++count.frames;
      } else {
        count.truncated = true;
        return count;
      }
    }
  }
  return count;
}

}  // namespace

FrameCount locate(const RawTrace& trace, std::span<Frame> out) noexcept {
  FrameCount count;
  count.frames = std::min<std::size_t>(trace.size, out.size());
  count.truncated = trace.truncated || trace.size > out.size();
  for (std::size_t i = 0; i < count.frames; ++i) {
    out[i] = locate(trace.addresses[i]);
  }
  return count;
}

FrameCount symbolize(const RawTrace& trace, std::span<Frame> out,
                     std::int64_t deadline) noexcept {
  std::size_t used = 0;
  return for_each_frame(trace, deadline, [&](const Frame& frame) {
    if (used == out.size()) {
      return false;
    }
    out[used++] = frame;
    return true;
  });
}

SymbolizedStack symbolize(const RawTrace& trace) {
  SymbolizedStack stack;
  const FrameCount count =
      for_each_frame(trace, kNoDeadline, [&](const Frame& frame) {
        stack.frames.push_back(frame);
        return true;
      });
  stack.stripped = count.stripped;
  stack.truncated = count.truncated;
  return stack;
}

}  // namespace mishap::collector
