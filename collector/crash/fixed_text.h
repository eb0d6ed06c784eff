#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mishap::collector {

/// A text that is put together in place: no allocation, cut at its capacity.
/// Async-signal-safe.
template <std::size_t kBytes>
class FixedText {
 public:
  FixedText& operator<<(std::string_view part) noexcept {
    const std::size_t size = std::min(part.size(), kBytes - size_);
    std::copy_n(part.data(), size, text_.data() + size_);
    size_ += size;
    return *this;
  }

  template <std::integral Integer>
  FixedText& operator<<(Integer value) noexcept {
    const bool negative = value < 0;
    auto rest = static_cast<std::uint64_t>(value);
    return (negative ? *this << "-" : *this)
        .digits(negative ? 0 - rest : rest, 10);
  }

  FixedText& hex(std::uint64_t value) noexcept {
    return (*this << "0x").digits(value, 16);
  }

  void clear() noexcept { size_ = 0; }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  FixedText& digits(std::uint64_t value, unsigned base) noexcept {
    std::array<char, 20> reversed;
    std::size_t count = 0;
    do {
      reversed[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value > 0);
    while (count > 0) {
      *this << std::string_view(&reversed[--count], 1);
    }
    return *this;
  }

  std::array<char, kBytes> text_{};
  std::size_t size_ = 0;
};

}  // namespace mishap::collector
