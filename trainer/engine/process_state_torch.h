#pragma once

namespace mishap {

/// Makes every run from now on hand back LibTorch's process-wide state as it
/// found it: grad and anomaly mode, default dtype, deterministic flags, warning
/// handler, number of threads. Idempotent, thread-safe; the engine calls it.
void keep_torch_state();

}  // namespace mishap
