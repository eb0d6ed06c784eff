#include <mishap/collector/uuid.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace mishap::collector {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

// 48 bits of milliseconds and 12 bits of counter of the UUID made last.
constinit std::atomic<std::uint64_t> last_stamp{0};

std::uint64_t next_stamp(std::int64_t unix_nano) noexcept {
  const auto millis = static_cast<std::uint64_t>(
      std::max<std::int64_t>(unix_nano / 1'000'000, 0));
  const std::uint64_t now = (millis & 0xffff'ffff'ffff) << 12;
  std::uint64_t last = last_stamp.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    next = std::max(now, last + 1);
  } while (
      !last_stamp.compare_exchange_weak(last, next, std::memory_order_relaxed));
  return next;
}

std::uint64_t random_bits(const Clock& clock) noexcept {
  const int saved_errno = errno;
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
    // Early at boot there is no entropy yet: process and time tell ids apart.
    bits =
        static_cast<std::uint64_t>(clock.steady_nano()) * 0x9e3779b97f4a7c15 ^
        static_cast<std::uint64_t>(getpid()) << 32;
  }
  errno = saved_errno;
  return bits;
}

}  // namespace

Uuid::Uuid(const std::array<std::uint8_t, 16>& bytes) noexcept : Uuid() {
  std::size_t at = 0;
  for (const std::uint8_t byte : bytes) {
    if (text_[at] == '-') ++at;
    text_[at++] = kHexDigits[byte >> 4];
    text_[at++] = kHexDigits[byte & 15];
  }
}

Uuid make_uuid(const Clock& clock) noexcept {
  const std::uint64_t stamp = next_stamp(clock.unix_nano());
  const std::uint64_t high =
      (stamp >> 12) << 16 | std::uint64_t{0x7000} | (stamp & 0xfff);
  const std::uint64_t low =
      (random_bits(clock) & 0x3fff'ffff'ffff'ffff) | 0x8000'0000'0000'0000;
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  return Uuid(bytes);
}

bool is_uuid(std::string_view text) noexcept {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-'
             : kHexDigits.find(text[i]) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace mishap::collector
