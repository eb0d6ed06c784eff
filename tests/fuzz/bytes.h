#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mishap::fuzz {

/// What a fuzzer gave, taken from the front; zeros and empty texts when there
/// is nothing left.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}

  template <typename Number>
  Number number() {
    Number value{};
    const std::size_t size = std::min(sizeof value, left_.size());
    std::memcpy(&value, left_.data(), size);
    left_.remove_prefix(size);
    return value;
  }

  /// From 0 to `last`.
  std::size_t up_to(std::size_t last) {
    return number<std::uint16_t>() % (last + 1);
  }
  bool flag() { return (number<std::uint8_t>() & 1U) != 0; }

  /// A text of up to 255 bytes, now and then repeated until it is long; or a
  /// null view.
  std::string_view text() {
    const std::size_t wanted = number<std::uint8_t>();
    const std::size_t size = std::min(wanted, left_.size());
    if (size == 0) return {};
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }

  std::string_view rest() const { return left_; }

 private:
  std::string_view left_;
};

}  // namespace mishap::fuzz
