#include <mishap/collector/clock.h>
#include <time.h>

#include <atomic>

namespace mishap::collector {
namespace {

std::int64_t read(clockid_t id) noexcept {
  timespec now{};
  clock_gettime(id, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  std::int64_t unix_nano() const noexcept override {
    return read(CLOCK_REALTIME);
  }
  std::int64_t steady_nano() const noexcept override {
    return read(CLOCK_MONOTONIC);
  }
};

constinit const SystemClock kSystemClock;
constinit std::atomic<std::uint64_t> last_sequence{0};

}  // namespace

const Clock& Clock::system() noexcept { return kSystemClock; }

std::uint64_t next_sequence() noexcept {
  return last_sequence.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace mishap::collector
