#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mishap::collector {

/// A short text in place, cut at its capacity, zero-terminated.
template <std::size_t kBytes>
class SlotText {
 public:
  void set(std::string_view text) noexcept {
    const std::size_t size = std::min(text.size(), kBytes - 1);
    std::copy_n(text.data(), size, text_.data());
    text_[size] = '\0';
  }

  /// Also safe on a text that was torn by the end of its writer.
  std::string_view view() const noexcept {
    return {text_.data(), strnlen(text_.data(), kBytes)};
  }

 private:
  std::array<char, kBytes> text_{};
};

/// Where a run is, as plain memory that survives its process. The guard keeps
/// it current with plain stores: no system call, no lock, no allocation.
/// Empty texts and -1 mean that the run has not got there.
struct SlotPlace {
  SlotText<24> stage;
  SlotText<48> hook;
  SlotText<96> component;
  std::int64_t epoch = -1;
  std::int64_t batch = -1;
  std::int64_t step = -1;
  /// Steady clock at the last change; 0 when never set.
  std::int64_t steady_nano = 0;

  /// A hook of a component begins.
  void set_hook(std::string_view hook_name,
                std::string_view component_name) noexcept {
    hook.set(hook_name);
    component.set(component_name);
  }
};

}  // namespace mishap::collector
