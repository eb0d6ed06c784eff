#pragma once

#include <string_view>

namespace mishap::collector {

/// "SIGSEGV"; empty for a number that is no signal. Async-signal-safe.
std::string_view signal_name(int signal) noexcept;

/// "SEGV_MAPERR" for the si_code of that signal; empty for one without a name.
/// Async-signal-safe.
std::string_view signal_code_name(int signal, int code) noexcept;

/// The same in words, "address not mapped"; what the signal means where the
/// code says no more. Async-signal-safe.
std::string_view signal_meaning(int signal, int code) noexcept;

}  // namespace mishap::collector
