#pragma once

#include <mishap/faultinject/action.h>

#include <span>
#include <string>

namespace mishap::faultinject {

// One reader for each shape that the arguments of an action can have.
using Arguments = std::span<const std::string>;

ArgumentsRead read_none(Arguments arguments);
ArgumentsRead read_optional_text(Arguments arguments);
ArgumentsRead read_milliseconds(Arguments arguments);
ArgumentsRead read_bytes(Arguments arguments);
ArgumentsRead read_bit(Arguments arguments);
ArgumentsRead read_exit_code(Arguments arguments);
ArgumentsRead read_errno(Arguments arguments);
ArgumentsRead read_signal(Arguments arguments);
ArgumentsRead read_interrupt(Arguments arguments);
/// A registered type and, where the type takes one, a text.
ArgumentsRead read_throw(Arguments arguments);

/// Texts in plans end here, so that every firing fits its label.
inline constexpr std::size_t kMaxText = 240;

/// Reads a whole number from 0 to `max`; nothing else may be in `text`.
bool read_number(std::string_view text, std::int64_t max, std::int64_t& number);

}  // namespace mishap::faultinject
