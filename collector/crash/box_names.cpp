#include <mishap/collector/crash/box_names.h>

#include <algorithm>

namespace mishap::collector {

void BoxNames::add(Kind kind, std::uint16_t number,
                   std::string_view name) noexcept {
  const std::uint32_t used = used_.load(std::memory_order_relaxed);
  const std::size_t size = std::min(name.size(), kLongest);
  if (size == 0 || used + kEntryHead + size > kBytes ||
      !find(kind, number).empty()) {
    return;
  }
  char* out = bytes_.data() + used;
  *out++ = static_cast<char>(kind);
  *out++ = static_cast<char>(number & 0xffU);
  *out++ = static_cast<char>(number >> 8U);
  *out++ = static_cast<char>(size);
  std::copy_n(name.data(), size, out);
  used_.store(static_cast<std::uint32_t>(used + kEntryHead + size),
              std::memory_order_release);
}

std::string_view BoxNames::find(Kind kind,
                                std::uint16_t number) const noexcept {
  const std::size_t used = std::min<std::size_t>(
      used_.load(std::memory_order_acquire), bytes_.size());
  for (std::size_t at = 0; at + kEntryHead <= used;) {
    const char* const head = bytes_.data() + at;
    const auto byte = [head](std::size_t i) {
      return static_cast<unsigned char>(head[i]);
    };
    const std::size_t size = byte(3);
    at += kEntryHead + size;
    if (at > used) break;
    if (byte(0) == static_cast<unsigned char>(kind) &&
        (byte(1) | byte(2) << 8U) == number) {
      return {head + kEntryHead, size};
    }
  }
  return {};
}

}  // namespace mishap::collector
