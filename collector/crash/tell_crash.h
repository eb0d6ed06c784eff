#pragma once

#include <mishap/collector/crash/crash.h>
#include <signal.h>

namespace mishap::collector::detail {

/// The crash that is told, in memory of its own: a handler's stack is small.
/// Whoever has the claim may fill it.
Crash& crash_in_progress() noexcept;

/// Describes a signal in `crash`, but for the stack. Async-signal-safe.
void describe_signal(int signal, const siginfo_t& info, const void* context,
                     Crash& crash) noexcept;

/// Completes the message once the stack is known. Async-signal-safe.
void describe_recursion(Crash& crash) noexcept;

/// Tells the process's teller, or stderr where there is none.
/// Async-signal-safe.
void tell(const Crash& crash) noexcept;

}  // namespace mishap::collector::detail
