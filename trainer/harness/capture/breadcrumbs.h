#pragma once

#include <mishap/trainer/guard/place.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace mishap {

/// Ticks of the processor's time-stamp counter where there is one, else
/// nanoseconds. Costs a few nanoseconds, a system clock six times that.
std::uint64_t crumb_ticks() noexcept;

/// One hook that was entered.
struct Breadcrumb {
  std::uint64_t ticks = 0;
  /// 0 as long as the hook has not returned.
  std::uint64_t end_ticks = 0;
  Hook hook = Hook::kNone;
  Component component;
};

/// The last hooks of a run: a ring that overwrites the oldest.
class BreadcrumbRing {
 public:
  static constexpr std::size_t kCapacity = 64;

  void enter(const Place& place) noexcept {
    Breadcrumb& crumb = ring_[count_ % kCapacity];
    crumb.ticks = crumb_ticks();
    crumb.end_ticks = 0;
    crumb.hook = place.hook;
    crumb.component = place.component;
    if (depth_ < kMaxDepth) {
      open_[depth_] = count_;
    }
    ++depth_;
    ++count_;
  }

  /// The innermost hook that is still open returned. Hooks that an exception
  /// left never do: they are passed over.
  void leave(const Place& place) noexcept {
    while (depth_ > 0) {
      --depth_;
      if (depth_ >= kMaxDepth || open_[depth_] + kCapacity < count_) {
        continue;
      }
      Breadcrumb& crumb = ring_[open_[depth_] % kCapacity];
      if (crumb.hook == place.hook && crumb.component == place.component) {
        crumb.end_ticks = crumb_ticks();
        return;
      }
    }
  }

  std::size_t size() const noexcept {
    return count_ < kCapacity ? count_ : kCapacity;
  }
  /// `index` 0 is the oldest kept.
  const Breadcrumb& operator[](std::size_t index) const noexcept {
    return ring_[(count_ - size() + index) % kCapacity];
  }

 private:
  static constexpr std::size_t kMaxDepth = 16;

  std::array<Breadcrumb, kCapacity> ring_{};
  std::array<std::size_t, kMaxDepth> open_{};
  std::size_t count_ = 0;
  std::size_t depth_ = 0;
};

/// Turns ticks into the record's steady nanoseconds; calibrated by two readings
/// of both clocks, the first at the start of the run.
class TickClock {
 public:
  TickClock() noexcept;
  /// Takes the second reading.
  void calibrate() noexcept;
  std::int64_t steady_nanos(std::uint64_t ticks) const noexcept;

 private:
  std::uint64_t first_ticks_;
  std::int64_t first_nanos_;
  double nanos_per_tick_ = 1.0;
};

}  // namespace mishap
