#pragma once

#include <mishap/collector/record/place.h>

namespace mishap::collector {

/// How far the process has come: kLoading until the program's static objects
/// are made, as far as can be known, or until somebody says more; in a forked
/// child what it was in the parent. Async-signal-safe.
ProcessPhase process_phase() noexcept;

/// Thread-safe.
void set_process_phase(ProcessPhase phase) noexcept;

}  // namespace mishap::collector
