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

void place(Frame& frame, std::uintptr_t address, int module) {
  frame.address = address;
  frame.module = module;
  frame.offset = address;
  if (module != kNoModule) {
    frame.offset -= module_at(static_cast<std::size_t>(module)).load_address;
  }
}

std::span<Frame> frames_at(const RawTrace& trace, std::size_t index,
                           InlinedFrames& storage) {
  const std::uintptr_t address = trace.addresses[index];
  const std::size_t size =
      resolve(address, is_exact(trace, index), std::span(storage));
  const int module = find_module(address);
  for (Frame& frame : std::span(storage).first(size)) {
    place(frame, address, module);
    frame.in_app = is_in_app(frame);
  }
  return std::span(storage).first(size);
}

// Hands every frame that does more than throw to `add`, until it says no.
template <typename Add>
FrameCount for_each_frame(const RawTrace& trace, Add add) {
  FrameCount count;
  count.truncated = trace.truncated;
  InlinedFrames storage;
  for (std::size_t i = 0; i < trace.size; ++i) {
    for (const Frame& frame : frames_at(trace, i, storage)) {
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
    const std::uintptr_t address = trace.addresses[i];
    out[i] = Frame{};
    place(out[i], address, find_module(address));
  }
  return count;
}

FrameCount symbolize(const RawTrace& trace, std::span<Frame> out) noexcept {
  std::size_t used = 0;
  return for_each_frame(trace, [&](const Frame& frame) {
    if (used == out.size()) {
      return false;
    }
    out[used++] = frame;
    return true;
  });
}

SymbolizedStack symbolize(const RawTrace& trace) {
  SymbolizedStack stack;
  const FrameCount count = for_each_frame(trace, [&](const Frame& frame) {
    stack.frames.push_back(frame);
    return true;
  });
  stack.stripped = count.stripped;
  stack.truncated = count.truncated;
  return stack;
}

}  // namespace mishap::collector
