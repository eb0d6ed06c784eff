#pragma once

#include <mishap/collector/crash/ticks.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mishap::collector {

/// What runs, in numbers of the writer's choice; BoxNames tells their names.
struct BoxWhat {
  std::uint16_t hook = 0;
  std::uint16_t component = 0;
  std::uint16_t stage = 0;

  constexpr std::uint64_t packed() const noexcept {
    return hook | std::uint64_t{component} << 16U | std::uint64_t{stage} << 32U;
  }
  static constexpr BoxWhat unpacked(std::uint64_t what) noexcept {
    return {static_cast<std::uint16_t>(what),
            static_cast<std::uint16_t>(what >> 16U),
            static_cast<std::uint16_t>(what >> 32U)};
  }
  /// Tells hook calls apart whatever the stage was when they ended.
  constexpr std::uint32_t call() const noexcept {
    return hook | std::uint32_t{component} << 16U;
  }
};

/// Where a run is. Counters are zero-based, -1 when it has not got there.
struct BoxPlace {
  BoxWhat what;
  std::int64_t epoch = -1;
  std::int64_t batch = -1;
  std::int64_t step = -1;
};

/// One hook call, as it is found in a box.
struct BoxCrumb {
  /// 1, 2, ... in the order in which the calls began.
  std::uint64_t sequence = 0;
  BoxWhat what;
  std::uint64_t begin_ticks = 0;
  /// Nothing while it has not returned. Of a quick call the moment at which the
  /// next one began.
  std::optional<std::uint64_t> end_ticks;
};

/// The last hook calls of a run and where it is: memory of fixed size that
/// outlives its process when it lies in a mapped file. Numbers only, so that
/// keeping it current costs a few plain stores.
///
/// One thread writes (BoxWriter). Any thread, a signal handler, and another
/// process after the death of this one may read: what was torn by the end of
/// its writer is recognised and passed over.
class BlackBox {
 public:
  static constexpr std::size_t kCrumbs = 64;

  /// Where the run is; nothing when it was never told.
  std::optional<BoxPlace> place() const noexcept;

  /// Fills `out` with the newest calls that it has room for, oldest first, and
  /// returns how many there are.
  std::size_t read(std::span<BoxCrumb> out) const noexcept;

  /// How many calls have begun: a heartbeat.
  std::uint64_t pulse() const noexcept;

  /// The newest ticks in it; 0 when there are none.
  std::uint64_t last_ticks() const noexcept;

  TickClock clock;

 private:
  friend class BoxWriter;

  // What a place is made of, but for its being whole.
  struct Where {
    std::atomic<std::uint64_t> what{0};
    std::atomic<std::int64_t> epoch{-1};
    std::atomic<std::int64_t> batch{-1};
    std::atomic<std::int64_t> step{-1};

    void store(const BoxPlace& place) noexcept;
    BoxPlace load() const noexcept;
  };

  // A cache line. A reader that finds the same sequence before and after
  // reading has a whole one.
  struct alignas(64) Crumb {
    // Stored last, and 0 before the rest is stored.
    std::atomic<std::uint64_t> sequence{0};
    Where where;
    std::atomic<std::uint64_t> begin_ticks{0};
    // 0: not returned. Else ticks, or kBefore and the sequence of the call
    // that began next.
    std::atomic<std::uint64_t> end{0};
  };
  static constexpr std::uint64_t kBefore = std::uint64_t{1} << 63U;
  static constexpr std::uint64_t kResumed = std::uint64_t{1} << 63U;

  std::uint64_t newest() const noexcept;

  // Where the run is: the sequence of the call that began last, or kResumed and
  // a number whose last bit is the index of a place in `resumed_`. One of the
  // two is whole, also while the other one is written.
  std::atomic<std::uint64_t> current_{0};
  std::array<Where, 2> resumed_;
  std::array<Crumb, kCrumbs> crumbs_;
};

inline void BlackBox::Where::store(const BoxPlace& place) noexcept {
  // None before what was stored last, which says that this one is not whole.
  what.store(place.what.packed(), std::memory_order_release);
  epoch.store(place.epoch, std::memory_order_release);
  batch.store(place.batch, std::memory_order_release);
  step.store(place.step, std::memory_order_release);
}

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace mishap::collector
