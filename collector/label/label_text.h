#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace mishap::collector::detail {

/// Text in storage of its own; what does not fit is left out.
template <std::size_t kSize>
class LabelText {
 public:
  void add(std::string_view part) noexcept {
    const std::size_t taken = std::min(part.size(), kSize - size_);
    std::copy_n(part.data(), taken, text_.data() + size_);
    size_ += taken;
  }
  void add(char character) noexcept {
    if (size_ < kSize) text_[size_++] = character;
  }
  void clear() noexcept { size_ = 0; }
  void cut_to(std::size_t size) noexcept { size_ = std::min(size, size_); }
  std::size_t size() const noexcept { return size_; }
  /// Alive until the text changes.
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, kSize> text_;
  std::size_t size_ = 0;
};

}  // namespace mishap::collector::detail
