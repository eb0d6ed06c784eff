#pragma once

#include <mishap/collector/raw_trace.h>

namespace mishap::collector {

/// Takes the calling thread's stack; the first address returns into the caller
/// of this function. Does not allocate. Signal-safe once warm_up_capture() has
/// run. `out` is overwritten.
void capture_stack(RawTrace& out) noexcept;

/// The same, but starts at the frame whose return address is `first`, so that
/// frames above it, however they were inlined, are left out. The whole stack
/// when no frame has it.
void capture_stack_from(RawTrace& out, const void* first) noexcept;

/// Makes the unwinder load what it loads at its first use.
void warm_up_capture() noexcept;

}  // namespace mishap::collector
