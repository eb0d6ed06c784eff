#pragma once

namespace mishap::preload {

/// Loads the library with the operator points once LibTorch is mapped; cheap
/// when nothing was mapped since the last call.
void look_for_torch() noexcept;

/// LibTorch's errors come without a backtrace from now on, which would take
/// milliseconds each.
void forget_native_backtraces() noexcept;

}  // namespace mishap::preload
