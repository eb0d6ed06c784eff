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

/// Says that the crash in progress is being described: a fault from now on, on
/// this thread, goes to tell_nested(). Async-signal-safe.
void begin_describing() noexcept;

/// Completes the message and tells the process's teller, or stderr where there
/// is none. Async-signal-safe.
void tell(Crash& crash) noexcept;

/// For a fault while the crash in progress was described or told: tells what is
/// known without what faulted, and ends the process by the signal of that
/// crash. Async-signal-safe.
[[noreturn]] void tell_nested() noexcept;

}  // namespace mishap::collector::detail
