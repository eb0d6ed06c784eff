#pragma once

#include <cstddef>
#include <string_view>

namespace mishap::collector {

/// The first character of a text.
struct Utf8Step {
  /// Bytes it takes; for invalid bytes, those that U+FFFD stands for.
  std::size_t size = 0;
  bool valid = false;
};

/// Reads the first character of a text that is not empty. Overlong forms,
/// surrogates and values beyond U+10FFFF are invalid; an invalid sequence is
/// taken as Unicode recommends, by its longest valid beginning.
/// Async-signal-safe.
Utf8Step utf8_step(std::string_view text) noexcept;

/// Async-signal-safe.
bool is_utf8(std::string_view text) noexcept;

/// The longest beginning of at most `limit` bytes that does not split a
/// character. Async-signal-safe.
std::string_view clip_utf8(std::string_view text, std::size_t limit) noexcept;

}  // namespace mishap::collector
