#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mishap::preload {

/// Zeroed memory that costs nothing until it is used; null when there is none.
template <typename T>
T* make_private(std::size_t count) noexcept {
  void* const memory = mmap(nullptr, sizeof(T) * count, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

/// Numbers by 64-bit keys: never shrinks, never allocates after make(). Lookups
/// take no lock; two threads may add.
template <std::size_t kSlots>
class NumberTable {
  static_assert((kSlots & (kSlots - 1)) == 0);

 public:
  bool make() noexcept {
    slots_ = make_private<Slot>(kSlots);
    return slots_ != nullptr;
  }

  /// The number of `key`, or `missing`.
  std::uint32_t find(std::uint64_t key,
                     std::uint32_t missing = 0xffffffff) const noexcept {
    key |= kUsed;
    for (std::size_t i = key >> 1, tries = 0; tries < kSlots; ++i, ++tries) {
      const Slot& slot = slots_[i & (kSlots - 1)];
      const std::uint64_t held = slot.key.load(std::memory_order_acquire);
      if (held == key) {
        return slot.number.load(std::memory_order_acquire);
      }
      if (held == 0) {
        return missing;
      }
    }
    return missing;
  }

  /// False when the table is full.
  bool add(std::uint64_t key, std::uint32_t number) noexcept {
    key |= kUsed;
    for (std::size_t i = key >> 1, tries = 0; tries < kSlots; ++i, ++tries) {
      Slot& slot = slots_[i & (kSlots - 1)];
      std::uint64_t held = 0;
      if (slot.key.compare_exchange_strong(held, key) || held == key) {
        slot.number.store(number, std::memory_order_release);
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint64_t kUsed = 1;
  struct Slot {
    std::atomic<std::uint64_t> key;
    std::atomic<std::uint32_t> number;
  };
  Slot* slots_ = nullptr;
};

/// Held for moments; who finds it taken for long gives up.
class BusyFlag {
 public:
  bool take() noexcept;
  void leave() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

class BusyLock {
 public:
  explicit BusyLock(BusyFlag& flag) noexcept : flag_(flag), has_(flag.take()) {}
  ~BusyLock() {
    if (has_) {
      flag_.leave();
    }
  }
  BusyLock(const BusyLock&) = delete;
  BusyLock& operator=(const BusyLock&) = delete;
  explicit operator bool() const noexcept { return has_; }

 private:
  BusyFlag& flag_;
  const bool has_;
};

}  // namespace mishap::preload
