#pragma once

#include <cstdint>

namespace mishap::collector {

/// CPU memory held through LibTorch's allocator, counted from
/// install_counting_allocator() on. Bytes are as the C library rounds them.
struct TensorMemory {
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t live_blocks = 0;
  std::int64_t allocations = 0;
};

/// Puts a counting allocator around LibTorch's current CPU allocator, for the
/// life of the process. Later calls do nothing. Call it before other threads
/// use tensors: LibTorch keeps the allocator in a plain variable.
///
/// False, and nothing changed, when the current allocator's blocks cannot be
/// freed by their address alone (LibTorch's mobile caching allocator).
bool install_counting_allocator();

/// All zero before install_counting_allocator(). Lock-free.
TensorMemory tensor_memory() noexcept;

/// The peak starts anew from what is live now. Lock-free.
void reset_peak_tensor_memory() noexcept;

}  // namespace mishap::collector
