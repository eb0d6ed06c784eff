#include <mishap/collector/crash/die.h>
#include <mishap/collector/crash/stuck_timer.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace mishap::collector::detail {
namespace {

constinit int dies_by = 0;
constinit siginfo_t dies_of{};

void on_stuck(int) { StuckTimer::end_process(); }

}  // namespace

void StuckTimer::end_process() noexcept { die_by(dies_by, &dies_of); }

void StuckTimer::arm(int signal, const siginfo_t& info) noexcept {
  dies_by = signal;
  dies_of = info;
  struct sigaction action {};
  action.sa_handler = on_stuck;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigaction(SIGALRM, &action, &previous_);
  is_armed_ = true;
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  // Not timer_create(), which may allocate; not alarm(), whose signal another
  // thread may take while this one stays stuck.
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = gettid();
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer_) != 0) {
    timer_ = -1;
    alarm(kSeconds);
    return;
  }
  itimerspec limit{};
  limit.it_value.tv_sec = kSeconds;
  syscall(SYS_timer_settime, timer_, 0, &limit, nullptr);
}

void StuckTimer::disarm() noexcept {
  if (!is_armed_) {
    return;
  }
  is_armed_ = false;
  if (timer_ >= 0) {
    syscall(SYS_timer_delete, timer_);
    timer_ = -1;
  } else {
    alarm(0);
  }
  sigaction(SIGALRM, &previous_, nullptr);
}

}  // namespace mishap::collector::detail
