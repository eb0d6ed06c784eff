#pragma once

#include <mishap/collector/clock.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace mishap::collector {

/// A UUID as its text: 36 characters, lower case, stored in place.
class Uuid {
 public:
  /// The nil UUID.
  constexpr Uuid() noexcept {
    text_.fill('0');
    text_[8] = text_[13] = text_[18] = text_[23] = '-';
  }

  /// Writes the 16 bytes as text.
  explicit Uuid(const std::array<std::uint8_t, 16>& bytes) noexcept;

  /// Valid as long as this object.
  constexpr std::string_view view() const noexcept {
    return {text_.data(), text_.size()};
  }

  friend constexpr bool operator==(const Uuid&, const Uuid&) noexcept = default;
  friend constexpr auto operator<=>(const Uuid&,
                                    const Uuid&) noexcept = default;

 private:
  std::array<char, 36> text_{};
};

/// A new version 7 UUID (RFC 9562): time-ordered, and within a process each
/// greater than the one before, also when the clock goes back. Processes that
/// fork draw different ones. Thread-safe, async-signal-safe.
Uuid make_uuid(const Clock& clock = Clock::system()) noexcept;

/// Whether the text has the form of a UUID.
bool is_uuid(std::string_view text) noexcept;

}  // namespace mishap::collector
