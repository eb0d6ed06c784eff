#include <c10/core/CPUAllocator.h>
#include <malloc.h>
#include <mishap/collector/torch/tensor_memory.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>

namespace mishap::collector {
namespace {

constinit std::atomic<std::int64_t> live_bytes = 0;
constinit std::atomic<std::int64_t> peak_bytes = 0;
constinit std::atomic<std::int64_t> live_blocks = 0;
constinit std::atomic<std::int64_t> allocations = 0;

constinit std::atomic<c10::DeleterFnPtr> wrapped_deleter = nullptr;

void raise_peak(std::int64_t bytes) {
  std::int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (bytes > peak && !peak_bytes.compare_exchange_weak(
                             peak, bytes, std::memory_order_relaxed)) {
  }
}

void count(void* block) {
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(block));
  raise_peak(live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  live_blocks.fetch_add(1, std::memory_order_relaxed);
  allocations.fetch_add(1, std::memory_order_relaxed);
}

void count_and_free(void* block) {
  if (block == nullptr) {
    return;
  }
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(block));
  live_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  live_blocks.fetch_sub(1, std::memory_order_relaxed);
  wrapped_deleter.load(std::memory_order_acquire)(block);
}

// The context of every block is the block itself and the deleter is always the
// same, as mkldnn's raw_allocate() and raw_deallocate() require. The size is
// asked of the C library and not kept in a header before the block, so that a
// block allocated before the installation can be freed after it.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator& wrapped) : wrapped_(wrapped) {}

  c10::DataPtr allocate(std::size_t bytes) const override {
    c10::DataPtr block = wrapped_.allocate(bytes);
    if (block.get() == nullptr) {
      return {nullptr, nullptr, count_and_free, block.device()};
    }
    count(block.get());
    const c10::Device device = block.device();
    void* data = block.release_context();
    return {data, data, count_and_free, device};
  }

  c10::DeleterFnPtr raw_deleter() const override { return count_and_free; }

 private:
  c10::Allocator& wrapped_;
};

bool install() {
  c10::Allocator* wrapped = c10::GetCPUAllocator();
  const c10::DeleterFnPtr deleter = wrapped->raw_deleter();
  if (deleter == nullptr) {
    return false;
  }
  wrapped_deleter.store(deleter, std::memory_order_release);
  // Never destroyed: tensors are freed until the very end of the process.
  c10::SetCPUAllocator(new CountingAllocator(*wrapped),
                       std::numeric_limits<std::uint8_t>::max());
  return true;
}

}  // namespace

bool install_counting_allocator() {
  static const bool installed = install();
  return installed;
}

TensorMemory tensor_memory() noexcept {
  TensorMemory memory;
  memory.live_bytes = live_bytes.load(std::memory_order_relaxed);
  memory.peak_bytes = peak_bytes.load(std::memory_order_relaxed);
  memory.live_blocks = live_blocks.load(std::memory_order_relaxed);
  memory.allocations = allocations.load(std::memory_order_relaxed);
  return memory;
}

void reset_peak_tensor_memory() noexcept {
  peak_bytes.store(live_bytes.load(std::memory_order_relaxed),
                   std::memory_order_relaxed);
}

}  // namespace mishap::collector
