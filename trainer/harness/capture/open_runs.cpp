#include <mishap/trainer/harness/capture/bounded_lock.h>
#include <mishap/trainer/harness/capture/open_runs.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace mishap {
namespace {

constinit std::mutex open_runs_mutex;
constinit OpenRun* newest_run = nullptr;
// The process that opened a run last. A forked child has the list of its
// parent, and perhaps its lock, but none of its runs.
constinit std::atomic<pid_t> process_with_runs{0};

constexpr int kStatusMask = 0xff;

void on_exit_of_process(int asked, void*) {
  const int status = asked & kStatusMask;
  const bool had_runs = OpenRun::end_all({.status = status == 0 ? 1 : status});
  if (had_runs && status == 0) {
    // The C library goes on with the handlers that are left, and the new
    // status.
    ::exit(1);
  }
}

}  // namespace

void OpenRun::enlist() noexcept {
  static const bool registered = ::on_exit(on_exit_of_process, nullptr) == 0;
  static_cast<void>(registered);
  process_ = getpid();
  process_with_runs.store(process_);
  const auto lock = bounded_lock(open_runs_mutex);
  if (!lock) {
    // A process that ends in the middle of this run leaves its slot.
    return;
  }
  older_ = newest_run;
  newest_run = this;
  enlisted_ = true;
}

void OpenRun::delist() noexcept {
  if (!enlisted_) {
    return;
  }
  enlisted_ = false;
  // This one has to be had: the list must not hold a run that is no more.
  auto lock = bounded_lock(open_runs_mutex);
  while (!lock) {
    lock = bounded_lock(open_runs_mutex);
  }
  for (OpenRun** run = &newest_run; *run != nullptr; run = &(*run)->older_) {
    if (*run == this) {
      *run = older_;
      return;
    }
  }
}

const OpenRun* OpenRun::newest() noexcept { return newest_run; }

std::optional<std::chrono::nanoseconds> OpenRun::end_overdue(
    const void* context) noexcept {
  using std::chrono::nanoseconds;
  if (process_with_runs.load() != getpid()) {
    return std::nullopt;
  }
  const auto lock = bounded_lock(open_runs_mutex);
  if (!lock) {
    return std::chrono::milliseconds(100);
  }
  std::optional<nanoseconds> next;
  std::optional<int> exit_status;
  for (const OpenRun* run = newest_run; run != nullptr; run = run->older_) {
    const auto left = run->grace_left();
    if (!left) {
      continue;
    }
    if (left->count() > 0) {
      next = std::min(next.value_or(*left), *left);
    } else if (run->ends_process()) {
      exit_status = run->status_of_overdue();
    }
  }
  for (OpenRun* run = newest_run; run != nullptr; run = run->older_) {
    const auto left = run->grace_left();
    if (left && left->count() <= 0) {
      run->tell_overdue(context, exit_status);
    } else if (exit_status) {
      run->end_from_handler({.status = *exit_status});
    }
  }
  if (exit_status) {
    _exit(*exit_status);
  }
  return next;
}

bool OpenRun::any_waits() noexcept {
  const auto lock = bounded_lock(open_runs_mutex);
  for (const OpenRun* run = newest_run; run != nullptr; run = run->older_) {
    if (run->grace_left()) {
      return true;
    }
  }
  return false;
}

bool OpenRun::end_all(const ProcessExit& exit) noexcept {
  const pid_t self = getpid();
  if (process_with_runs.load() != self) {
    return false;
  }
  const auto lock = bounded_lock(open_runs_mutex);
  if (!lock) {
    // Somebody is at it and does not get on: what is pending stays pending.
    return true;
  }
  bool had_runs = false;
  for (OpenRun* run = newest_run; run != nullptr; run = run->older_) {
    had_runs |= run->process_ == self && run->on_process_exit(exit);
  }
  return had_runs;
}

bool OpenRun::crash_all(const collector::Crash& crash) noexcept {
  // Without it when its owner is the thread that fails.
  const auto lock = bounded_lock(open_runs_mutex);
  OpenRun* here = newest_run;
  for (OpenRun* run = newest_run; run != nullptr; run = run->older_) {
    if (run->is_on_this_thread()) {
      here = run;
      break;
    }
  }
  if (here == nullptr) {
    return false;
  }
  const pid_t self = getpid();
  const bool is_parents = here->process_ != self;
  // The one that it happened in first: whatever comes next, it is told.
  bool told = here->on_crash(
      crash, {.happened_here = true, .in_forked_child = is_parents});
  for (OpenRun* run = newest_run; run != nullptr && !is_parents;
       run = run->older_) {
    told |= run != here && run->process_ == self && run->on_crash(crash, {});
  }
  return told;
}

}  // namespace mishap
