#pragma once

#include <mishap/trainer/harness/program/control.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace mishap::preload {

/// The number of the text in the tables; the same text gets the same one.
/// kNoText when there is no room, and for an empty one. Signal-safe.
std::uint32_t keep_text(std::string_view text) noexcept;

/// The text of that number; valid as long as the process.
std::string_view text_at(std::uint32_t text) noexcept;

template <std::size_t kSize>
void copy_text(std::string_view from, program::Text<kSize>& to) noexcept {
  const std::size_t size = std::min(from.size(), kSize - 1);
  std::copy_n(from.data(), size, to.bytes.data());
  to.bytes[size] = '\0';
}

template <std::size_t kSize>
std::string_view view_of(const program::Text<kSize>& text) noexcept {
  return text.bytes.data();
}

/// Calls `visit` for each line that is not empty.
template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) {
      visit(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace mishap::preload
