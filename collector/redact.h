#pragma once

#include <string_view>

namespace mishap::collector {

/// Stands where a secret was.
inline constexpr std::string_view kRedacted = "[redacted]";

/// Whether a variable or option of that name holds a secret: the name contains
/// password, secret, token, api_key or a word like these, or one that was added
/// (Privacy::secret_words), in any case and with - for _. Async-signal-safe.
bool is_secret_name(std::string_view name) noexcept;

}  // namespace mishap::collector
