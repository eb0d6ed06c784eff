#pragma once

#include <chrono>
#include <initializer_list>
#include <string_view>

namespace mishap::collector {

/// Writes texts one after another to a file descriptor that nobody may be
/// reading, as stderr may be, and gives up after `limit`. Returns whether all
/// was written. Raises no signal. Async-signal-safe.
bool bounded_write(int file, std::initializer_list<std::string_view> texts,
                   std::chrono::milliseconds limit) noexcept;

/// "No space left on device". Async-signal-safe.
std::string_view error_text(int error) noexcept;

}  // namespace mishap::collector
