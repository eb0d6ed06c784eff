#include <mishap/collector/clock.h>
#include <mishap/trainer/harness/capture/breadcrumbs.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

namespace mishap {

std::uint64_t crumb_ticks() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(collector::Clock::system().steady_nano());
#endif
}

TickClock::TickClock() noexcept
    : first_ticks_(crumb_ticks()),
      first_nanos_(collector::Clock::system().steady_nano()) {}

void TickClock::calibrate() noexcept {
  const std::uint64_t ticks = crumb_ticks() - first_ticks_;
  const std::int64_t nanos =
      collector::Clock::system().steady_nano() - first_nanos_;
  if (ticks > 0) {
    nanos_per_tick_ = static_cast<double>(nanos) / static_cast<double>(ticks);
  }
}

std::int64_t TickClock::steady_nanos(std::uint64_t ticks) const noexcept {
  // Signed: a crumb of another core may be a little older than the start.
  const auto delta = static_cast<std::int64_t>(ticks - first_ticks_);
  return first_nanos_ + static_cast<std::int64_t>(static_cast<double>(delta) *
                                                  nanos_per_tick_);
}

}  // namespace mishap
