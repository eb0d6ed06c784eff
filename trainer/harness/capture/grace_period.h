#pragma once

#include <chrono>

namespace mishap {

/// From now on the first SIGINT or SIGTERM of a run starts a clock, and a run
/// that has reached no safe point after `period` is taken to hang: tells it,
/// and ends the process where that is asked for. The kernel keeps the time, so
/// that nothing is done before a signal comes. Of several periods each run has
/// its own. Thread-safe.
void watch_grace_period(std::chrono::milliseconds period) noexcept;

/// A run that a signal had come for is over: with no other one left that waits
/// for a safe point the clock stops.
void end_grace_period() noexcept;

}  // namespace mishap
