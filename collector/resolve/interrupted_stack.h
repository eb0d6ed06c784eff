#pragma once

#include <mishap/collector/raw_trace.h>

namespace mishap::collector {

/// Takes the stack that a signal interrupted, as its handler sees it: `context`
/// is the handler's third argument. The first address is the interrupted
/// instruction itself; no frame of the handler is in it. To be called on the
/// thread that was interrupted, also when the handler runs on an alternate
/// stack.
///
/// Does not allocate. Signal-safe once warm_up_capture() has run. A stack that
/// cannot be walked has the interrupted instruction alone. `out` is
/// overwritten.
void capture_interrupted_stack(RawTrace& out, const void* context) noexcept;

}  // namespace mishap::collector
