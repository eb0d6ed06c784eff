#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mishap::faultinject {

/// Writes text into a buffer that is always terminated by a zero and remembers
/// whether everything fitted.
class FixedText {
 public:
  template <std::size_t Size>
  explicit FixedText(char (&buffer)[Size]) noexcept
      : begin_(buffer), room_(Size - 1) {
    static_assert(Size > 0);
    *begin_ = '\0';
  }

  FixedText& operator<<(std::string_view text) noexcept {
    const std::size_t fitting = std::min(text.size(), room_ - size_);
    std::memcpy(begin_ + size_, text.data(), fitting);
    size_ += fitting;
    begin_[size_] = '\0';
    cut_ = cut_ || fitting < text.size();
    return *this;
  }

  FixedText& operator<<(std::uint64_t number) noexcept {
    char digits[20];
    const auto end =
        std::to_chars(std::begin(digits), std::end(digits), number).ptr;
    return *this << std::string_view(
               digits, static_cast<std::size_t>(end - std::begin(digits)));
  }

  bool cut() const noexcept { return cut_; }
  std::string_view view() const noexcept { return {begin_, size_}; }

 private:
  char* begin_;
  std::size_t room_;
  std::size_t size_ = 0;
  bool cut_ = false;
};

}  // namespace mishap::faultinject
