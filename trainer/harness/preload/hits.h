#pragma once

#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/fault.h>
#include <mishap/trainer/harness/preload/inside.h>
#include <mishap/trainer/harness/program/control.h>

#include <cstdint>

namespace mishap::preload {

/// Whether a call of this thread may be a hit. Cheap.
inline bool may_hit() noexcept { return is_working() && !is_inside_agent; }

/// The call that returns to `caller` hits the point: counts it, forks where a
/// case is planned, and in a case's process fails it where it is its turn: may
/// throw, raise a signal, not return. Ask may_hit() first.
///
/// Lock-free but for a moment when a stack is new; from any thread, and from
/// signal handlers as far as fork() is.
Strike hit(std::uint32_t point, const void* caller,
           std::uint32_t path = program::kNoText);

}  // namespace mishap::preload
