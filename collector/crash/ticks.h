#pragma once

#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#else
#include <mishap/collector/clock.h>
#endif

namespace mishap::collector {

/// Ticks of the processor's time-stamp counter where there is one, else
/// nanoseconds. Costs less than half of what a system clock does. One scale for
/// all processes of a boot. Async-signal-safe.
inline std::uint64_t ticks_now() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(Clock::system().steady_nano());
#endif
}

/// So many ticks are a microsecond or a few.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr std::uint64_t kAboutOneMicrosecond = 4096;
#else
inline constexpr std::uint64_t kAboutOneMicrosecond = 1000;
#endif

/// Turns ticks into the record's steady nanoseconds: two readings of both
/// clocks, the first one when it is made. A plain value, which a reader may
/// find in the memory of a dead process. Async-signal-safe.
class TickClock {
 public:
  /// Its rate is measured since the program was loaded.
  TickClock() noexcept;

  /// Takes the second reading: the longer after the first, the better. Also
  /// right for a clock of another process of this boot.
  void calibrate() noexcept;
  std::int64_t steady_nanos(std::uint64_t ticks) const noexcept;

 private:
  std::uint64_t first_ticks_;
  std::int64_t first_nanos_;
  double nanos_per_tick_ = 1.0;
};

}  // namespace mishap::collector
