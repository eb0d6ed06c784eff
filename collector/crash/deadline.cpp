#include <mishap/collector/crash/deadline.h>
#include <mishap/collector/crash/own_signal.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace mishap::collector {

// Who has been armed; a value that came with a signal is looked for here before
// it is followed.
struct DeadlineList {
  static constexpr std::size_t kMax = 8;
  static constinit std::array<std::atomic<Deadline*>, kMax> known;

  static bool add(Deadline& deadline) noexcept {
    return std::any_of(known.begin(), known.end(), [&](auto& slot) {
      Deadline* none = nullptr;
      return slot.load() == &deadline ||
             slot.compare_exchange_strong(none, &deadline) || none == &deadline;
    });
  }

  static bool pass(const void* value, const void* context) noexcept {
    for (const std::atomic<Deadline*>& slot : known) {
      Deadline* const deadline = slot.load();
      if (deadline == nullptr || deadline != value) {
        continue;
      }
      if (deadline->armed_.exchange(false)) {
        deadline->action_(context);
      }
      return true;
    }
    return false;
  }
};
constinit std::array<std::atomic<Deadline*>, DeadlineList::kMax>
    DeadlineList::known{};

bool Deadline::arm(std::chrono::nanoseconds after) noexcept {
  const int signal = prepare_own_signal();
  if (signal == 0 || !DeadlineList::add(*this)) {
    return false;
  }
  if (process_.load() != getpid() || signal_.load() != signal) {
    // The C library's timer_create() may be none for a signal handler.
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal;
    event.sigev_value.sival_ptr = this;
    int timer = 0;
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) {
      return false;
    }
    timer_.store(timer);
    signal_.store(signal);
    process_.store(getpid());
  }
  armed_.store(true);
  return set(std::max(after, std::chrono::nanoseconds(1)));
}

void Deadline::disarm() noexcept {
  if (armed_.exchange(false) && process_.load() == getpid()) {
    set(std::chrono::nanoseconds(0));
  }
}

bool Deadline::set(std::chrono::nanoseconds after) noexcept {
  constexpr std::int64_t kNanos = 1'000'000'000;
  itimerspec time{};
  time.it_value.tv_sec = after.count() / kNanos;
  time.it_value.tv_nsec = after.count() % kNanos;
  return syscall(SYS_timer_settime, timer_.load(), 0, &time, nullptr) == 0;
}

bool detail::pass_deadline(const void* value, const void* context) noexcept {
  return DeadlineList::pass(value, context);
}

}  // namespace mishap::collector
