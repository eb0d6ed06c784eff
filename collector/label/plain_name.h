#pragma once

#include <mishap/collector/label/label_text.h>

#include <cstddef>
#include <string_view>

namespace mishap::collector {

/// Longer names are cut.
inline constexpr std::size_t kPlainNameBytes = 200;
inline constexpr std::size_t kPlainMessageBytes = 200;

using PlainName = detail::LabelText<kPlainNameBytes>;
using PlainMessage = detail::LabelText<kPlainMessageBytes>;

/// What stays the same of a readable function name from build to build: without
/// return type, template arguments, parameters, qualifiers, ABI tags, numbers
/// of lambdas and of unnamed types, clone suffixes, and what stands before an
/// unnamed namespace, which debug information leaves out where the function was
/// inlined. A lambda is "{lambda}" for the same reason. Replaces `out`.
/// Async-signal-safe.
void plain_name(std::string_view readable, PlainName& out) noexcept;

/// The same of a type: "char const*" stays. Async-signal-safe.
void plain_type(std::string_view readable, PlainName& out) noexcept;

/// The first line of a message with placeholders: `<n>` for a number, `<hex>`
/// for an address or another run of hex digits, `<path>` for a path. Replaces
/// `out`. Async-signal-safe.
void plain_message(std::string_view message, PlainMessage& out) noexcept;

}  // namespace mishap::collector
