#pragma once

#include <mishap/trainer/harness/capture/reproduce.h>

#include <span>
#include <string_view>

namespace mishap {

/// Keeps the command that repeats this process where a signal handler finds it:
/// `before`, the faults if they go there, `command`, the faults if they go
/// behind. Too long a one is not kept. Call under a lock.
void keep_ready_command(std::string_view before, std::string_view command,
                        FaultsGo faults_go) noexcept;

/// The kept command with these faults, in `out`; empty when it does not fit or
/// none is kept. Async-signal-safe.
std::string_view ready_command(std::string_view faults,
                               std::span<char> out) noexcept;

}  // namespace mishap
