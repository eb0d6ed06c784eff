#pragma once

#include <cstdint>
#include <string_view>

namespace mishap::collector::detail {

// Each gives the name of a category, or nothing. Async-signal-safe.

std::string_view category_of_signal(std::string_view name) noexcept;
std::string_view category_of_type(std::string_view type) noexcept;
/// The type's error code decides, not the type.
bool tells_by_code(std::string_view type) noexcept;
std::string_view category_of_errno(std::int64_t code) noexcept;
/// Of an injected fault: its action, else the family of its point.
std::string_view category_of_fault(std::string_view point,
                                   std::string_view action) noexcept;
/// `phrase` is set to what was found in the message.
std::string_view category_of_text(std::string_view message,
                                  std::string_view& phrase) noexcept;

}  // namespace mishap::collector::detail
