#pragma once

#include <signal.h>

namespace mishap::collector::detail {

/// Ends the process by this signal's default action, told as `info` tells it,
/// from wherever we are. Process 1 has no default actions: there it ends with
/// status 128 + signal. Async-signal-safe.
[[noreturn]] void die_by(int signal, const siginfo_t* info) noexcept;

/// The same for a handler that returns: the process dies of the very signal, in
/// the very place where it came, once the handler has returned, so that status
/// and core are what they would have been. Must be the last thing that the
/// handler does. Async-signal-safe.
void die_on_return(int signal, siginfo_t* info) noexcept;

/// The kernel's answer to what an instruction did; it comes again when the
/// instruction is tried again.
bool is_fault(int signal, const siginfo_t& info) noexcept;

}  // namespace mishap::collector::detail
