#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace mishap::faultinject {

/// An array that grows by chunks and never moves an element: elements are read
/// and made on any thread without a lock.
template <typename T>
class Chunked {
 public:
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kMaxSize = kChunk * 512;

  Chunked() = default;
  ~Chunked() {
    for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
  }
  Chunked(const Chunked&) = delete;
  Chunked& operator=(const Chunked&) = delete;

  /// Null when the element was never made.
  T* find(std::size_t index) const noexcept {
    if (index >= kMaxSize) return nullptr;
    Chunk* chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[index % kChunk];
  }

  /// Makes the element (value-initialised) if need be. Null when memory or
  /// kMaxSize is exhausted.
  T* make(std::size_t index) noexcept {
    if (index >= kMaxSize) return nullptr;
    std::atomic<Chunk*>& slot = chunks_[index / kChunk];
    Chunk* chunk = slot.load(std::memory_order_acquire);
    if (chunk == nullptr) {
      std::unique_ptr<Chunk> fresh(new (std::nothrow) Chunk{});
      if (fresh == nullptr) return nullptr;
      if (slot.compare_exchange_strong(chunk, fresh.get(),
                                       std::memory_order_acq_rel)) {
        chunk = fresh.release();
      }
    }
    return &(*chunk)[index % kChunk];
  }

 private:
  using Chunk = std::array<T, kChunk>;
  std::array<std::atomic<Chunk*>, kMaxSize / kChunk> chunks_{};
};

}  // namespace mishap::faultinject
