#include <mishap/collector/clock.h>
#include <mishap/collector/crash/watchdog.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

namespace mishap::collector {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The thread that watches, and what it watches.
class Watchdog {
 public:
  static Watchdog& instance() noexcept {
    // Never destroyed: a run may be open when the process ends.
    static Watchdog* const only = new Watchdog;
    return *only;
  }

  bool add(Watched& watched, nanoseconds after, const Watched* outer) noexcept {
    const std::lock_guard starting(control_);
    {
      const std::lock_guard lock(mutex_);
      watched.watched_ = true;
      watched.outer_ = outer;
      watched.after_ = after;
      watched.seen_beats_ = watched.beats_.load(std::memory_order_relaxed);
      watched.idle_ = nanoseconds(0);
      watched.told_ = false;
      watched.older_ = std::exchange(newest_, &watched);
    }
    if (!running_ && !start()) {
      const std::lock_guard lock(mutex_);
      remove_from_list(watched);
      return false;
    }
    // It may sleep for longer than this one can wait.
    sem_post(&wake_);
    return true;
  }

  void remove(Watched& watched) noexcept {
    const std::lock_guard stopping(control_);
    {
      const std::lock_guard lock(mutex_);
      remove_from_list(watched);
      if (newest_ != nullptr || !running_) {
        return;
      }
      ends_ = true;
    }
    sem_post(&wake_);
    pthread_join(thread_, nullptr);
    running_ = false;
    sem_destroy(&wake_);
  }

 private:
  Watchdog() noexcept {
    pthread_atfork([] { instance().before_fork(); },
                   [] { instance().in_parent(); },
                   [] { instance().in_child(); });
  }

  void before_fork() noexcept {
    control_.lock();
    mutex_.lock();
  }
  void in_parent() noexcept {
    mutex_.unlock();
    control_.unlock();
  }
  void in_child() noexcept {
    // What was watched is the parent's; so is the thread.
    for (Watched* one = newest_; one != nullptr; one = one->older_) {
      one->watched_ = false;
    }
    newest_ = nullptr;
    running_ = false;
    mutex_.unlock();
    control_.unlock();
  }

  void remove_from_list(Watched& watched) noexcept {
    for (Watched** one = &newest_; *one != nullptr; one = &(*one)->older_) {
      if (*one == &watched) {
        *one = watched.older_;
        break;
      }
    }
    watched.watched_ = false;
  }

  bool start() noexcept {
    sem_init(&wake_, 0, 0);
    ends_ = false;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
      return false;
    }
    // Signals are for the threads of the program.
    sigset_t all;
    sigfillset(&all);
    running_ = pthread_attr_setsigmask_np(&attributes, &all) == 0 &&
               pthread_create(
                   &thread_, &attributes,
                   [](void* self) -> void* {
                     static_cast<Watchdog*>(self)->run();
                     return nullptr;
                   },
                   this) == 0;
    pthread_attr_destroy(&attributes);
    return running_;
  }

  void run() noexcept {
    pthread_setname_np(pthread_self(), "mishap-watchdog");
    const Clock& clock = Clock::system();
    nanoseconds interval = shortest_interval();
    std::int64_t last = clock.steady_nano();
    while (true) {
      sleep(interval);
      const nanoseconds slept(clock.steady_nano() - last);
      const std::lock_guard lock(mutex_);
      if (ends_) {
        return;
      }
      // A thread that slept for much longer was stopped with all others.
      judge_all(std::min(slept, 2 * interval));
      interval = next_interval();
      last = clock.steady_nano();
    }
  }

  void sleep(nanoseconds time) noexcept {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    const std::int64_t nanos = until.tv_nsec + time.count();
    until.tv_sec += nanos / 1'000'000'000;
    until.tv_nsec = nanos % 1'000'000'000;
    while (sem_clockwait(&wake_, CLOCK_MONOTONIC, &until) != 0 &&
           errno == EINTR) {
    }
  }

  nanoseconds shortest_interval() noexcept {
    const std::lock_guard lock(mutex_);
    return next_interval();
  }

  nanoseconds next_interval() const noexcept {
    nanoseconds interval = milliseconds(1000);
    for (const Watched* one = newest_; one != nullptr; one = one->older_) {
      interval = std::min(interval, one->after_ / 8);
    }
    return std::max<nanoseconds>(interval, milliseconds(2));
  }

  void judge_all(nanoseconds passed) noexcept {
    for (Watched* one = newest_; one != nullptr; one = one->older_) {
      const std::uint64_t beats = one->beats_.load(std::memory_order_relaxed);
      if (beats != one->seen_beats_ || has_inner(*one)) {
        one->seen_beats_ = beats;
        one->idle_ = nanoseconds(0);
        one->told_ = false;
        continue;
      }
      one->idle_ += passed;
      if (one->idle_ >= one->after_ && !std::exchange(one->told_, true)) {
        one->on_hang({one->idle_});
      }
    }
  }

  bool has_inner(const Watched& outer) const noexcept {
    const Watched* one = newest_;
    while (one != nullptr && one->outer_ != &outer) {
      one = one->older_;
    }
    return one != nullptr;
  }

  // Held by whoever starts or ends the thread.
  std::mutex control_;
  std::mutex mutex_;
  Watched* newest_ = nullptr;
  bool running_ = false;
  bool ends_ = false;
  pthread_t thread_{};
  sem_t wake_{};
};

bool Watched::watch(std::chrono::nanoseconds after,
                    const Watched* outer) noexcept {
  return Watchdog::instance().add(*this, after, outer);
}

void Watched::unwatch() noexcept {
  if (watched_) {
    Watchdog::instance().remove(*this);
  }
}

}  // namespace mishap::collector
