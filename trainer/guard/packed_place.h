#pragma once

#include <mishap/trainer/guard/place.h>

#include <atomic>
#include <cstdint>

namespace mishap {

/// A place in two words, so that a signal handler can read it while it is
/// stored to: at worst it gets the counters of the place before.
///
/// Batches up to 4e9, epochs up to 16 million, steps up to 1e12.
class PackedPlace {
 public:
  /// Two plain stores.
  void store(const Place& place) noexcept {
    where_.store(static_cast<std::uint64_t>(place.stage) |
                     static_cast<std::uint64_t>(place.hook) << 8U |
                     static_cast<std::uint64_t>(place.component.index())
                         << 16U |
                     static_cast<std::uint64_t>(
                         static_cast<std::uint32_t>(place.batch + 1))
                         << 32U,
                 std::memory_order_relaxed);
    counters_.store((static_cast<std::uint64_t>(place.step + 1) & kStepMask) |
                        static_cast<std::uint64_t>(place.epoch + 1)
                            << kStepBits,
                    std::memory_order_relaxed);
  }

  Place load() const noexcept {
    const std::uint64_t where = where_.load(std::memory_order_relaxed);
    const std::uint64_t counters = counters_.load(std::memory_order_relaxed);
    Place place;
    place.stage = static_cast<Stage>(where & 0xffU);
    place.hook = static_cast<Hook>(where >> 8U & 0xffU);
    place.component = Component::from_index(
        static_cast<std::uint16_t>(where >> 16U & 0xffffU));
    place.batch = static_cast<std::int64_t>(where >> 32U) - 1;
    place.step = static_cast<std::int64_t>(counters & kStepMask) - 1;
    place.epoch = static_cast<std::int64_t>(counters >> kStepBits) - 1;
    return place;
  }

  void copy_from(const PackedPlace& other) noexcept {
    where_.store(other.where_.load(std::memory_order_relaxed));
    counters_.store(other.counters_.load(std::memory_order_relaxed));
  }

 private:
  static constexpr unsigned kStepBits = 40;
  static constexpr std::uint64_t kStepMask =
      (std::uint64_t{1} << kStepBits) - 1;

  std::atomic<std::uint64_t> where_{0};
  std::atomic<std::uint64_t> counters_{0};
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace mishap
