#include <mishap/collector/clock.h>
#include <mishap/collector/crash/ticks.h>

namespace mishap::collector {
namespace {

struct Reading {
  std::uint64_t ticks = ticks_now();
  std::int64_t nanos = Clock::system().steady_nano();
};

const Reading at_load;

// Below this two readings are too near to each other to tell a rate.
constexpr std::int64_t kLeastNanos = 1'000;

// Some thirty years.
constexpr double kLongest = 1e18;

double rate_between(std::uint64_t first_ticks, std::int64_t first_nanos,
                    const Reading& later, double otherwise) noexcept {
  const auto nanos =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(later.nanos) -
                                static_cast<std::uint64_t>(first_nanos));
  const std::uint64_t ticks = later.ticks - first_ticks;
  return nanos < kLeastNanos || ticks == 0
             ? otherwise
             : static_cast<double>(nanos) / static_cast<double>(ticks);
}

}  // namespace

TickClock::TickClock() noexcept {
  const Reading now;
  first_ticks_ = now.ticks;
  first_nanos_ = now.nanos;
  nanos_per_tick_ =
      rate_between(at_load.ticks, at_load.nanos, now, nanos_per_tick_);
}

void TickClock::calibrate() noexcept {
  nanos_per_tick_ =
      rate_between(first_ticks_, first_nanos_, Reading{}, nanos_per_tick_);
}

std::int64_t TickClock::steady_nanos(std::uint64_t ticks) const noexcept {
  // Signed: a crumb of another core may be a little older than the start.
  const double since =
      static_cast<double>(static_cast<std::int64_t>(ticks - first_ticks_)) *
      nanos_per_tick_;
  const auto is_a_time = [](double nanos) {
    return nanos > -kLongest && nanos < kLongest;
  };
  // What lies in a file may be anything.
  if (!is_a_time(since) || !is_a_time(static_cast<double>(first_nanos_))) {
    return 0;
  }
  return first_nanos_ + static_cast<std::int64_t>(since);
}

}  // namespace mishap::collector
