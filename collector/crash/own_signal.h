#pragma once

namespace mishap::collector {

/// The real-time signal that asks threads for their stacks, tells that a
/// Deadline has passed and brings a parent's wish for stacks (stack_dump.h).
/// Installs its handler at the first call; 0 when no signal is free.
///
/// It is the highest but two of those that the program leaves at their default
/// action and that no thread blocks in order to wait for them. The handler
/// stays: a thread that blocks the signal gets it late. Should the program take
/// the signal for itself another one is chosen. One that somebody else sends
/// has the default effect. Async-signal-safe.
int prepare_own_signal() noexcept;

/// The signal that prepare_own_signal() gave last; 0 before the first call.
int own_signal() noexcept;

}  // namespace mishap::collector
