#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector {

/// A text that a terminal shows instead of obeying: control characters become
/// "\x1b" and the like; newlines stay.
std::string printable(std::string_view text);

/// The lines of a text, each printable and at most `width` bytes.
std::vector<std::string> lines_of(std::string_view text, std::size_t width);

/// "12.3 ms", "4 us", "1.5 s".
std::string duration(std::int64_t micros);

/// "12.0 MiB".
std::string bytes(std::int64_t count);

/// "2026-07-01 12:00:00 UTC".
std::string utc(std::int64_t unix_nano);

}  // namespace mishap::collector
