#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

namespace mishap::collector::detail {

/// The signals whose default action ends the process because something is
/// wrong with it.
inline constexpr std::array kFatalSignals = {SIGSEGV, SIGABRT, SIGBUS,
                                             SIGFPE,  SIGILL,  SIGSYS,
                                             SIGXFSZ, SIGXCPU, SIGTRAP};

using SignalHandler = void (*)(int, siginfo_t*, void*);

/// Puts `handler` over what is installed for the fatal signals and remembers
/// that. A signal that is ignored and that no instruction of the process can
/// cause stays ignored. Call under a lock.
void install_over_previous(SignalHandler handler) noexcept;

/// Gives back what install_over_previous() found, for each signal whose handler
/// is still `handler`. Call under the same lock.
void give_back_previous(SignalHandler handler) noexcept;

/// What `handler` found and has to hand on to. Async-signal-safe.
struct sigaction previous_action(int signal) noexcept;

/// A function of the program, not SIG_DFL or SIG_IGN. Async-signal-safe.
bool is_function(const struct sigaction& action) noexcept;

/// Calls the function as the kernel would. Async-signal-safe as far as it is.
void call_function(const struct sigaction& action, int signal, siginfo_t* info,
                   void* context) noexcept;

}  // namespace mishap::collector::detail
