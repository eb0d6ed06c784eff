#include <mishap/collector/crash/deadline.h>
#include <mishap/trainer/guard/signals.h>
#include <mishap/trainer/harness/capture/grace_period.h>
#include <mishap/trainer/harness/capture/open_runs.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace mishap {
namespace {

using std::chrono::nanoseconds;

// The shortest that any run was given; which run it is shows when it is over.
constinit std::atomic<std::int64_t> shortest_nanos{INT64_MAX};

void on_grace_over(const void* context);
constinit collector::Deadline grace_over(on_grace_over);

void on_grace_over(const void* context) {
  if (const auto left = OpenRun::end_overdue(context)) {
    grace_over.arm(*left);
  }
}

void on_first_signal(const signals::Received&) {
  grace_over.arm(nanoseconds(shortest_nanos.load()));
}

}  // namespace

void watch_grace_period(std::chrono::milliseconds period) noexcept {
  static const bool watching = [] {
    signals::set_arrival_action(on_first_signal);
    return true;
  }();
  static_cast<void>(watching);
  const std::int64_t nanos = nanoseconds(period).count();
  std::int64_t shortest = shortest_nanos.load();
  while (nanos < shortest &&
         !shortest_nanos.compare_exchange_weak(shortest, nanos)) {
  }
}

void end_grace_period() noexcept {
  if (!OpenRun::any_waits()) {
    grace_over.disarm();
  }
}

}  // namespace mishap
