#include <mishap/collector/crash/die.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mishap::collector::detail {
namespace {

constexpr int kStatusOfSignal = 128;

void set_default(int signal) noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

void change_mask(int how, int signal) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(how, &set, nullptr);
}

// The same signal with the same information, to this thread.
bool send_again(int signal, const siginfo_t* info) noexcept {
  siginfo_t copy = *info;
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, &copy) ==
             0 ||
         syscall(SYS_tgkill, getpid(), gettid(), signal) == 0;
}

}  // namespace

bool is_fault(int signal, const siginfo_t& info) noexcept {
  const bool can_be = signal == SIGSEGV || signal == SIGBUS ||
                      signal == SIGFPE || signal == SIGILL;
  return can_be && info.si_code > 0;
}

void die_by(int signal, const siginfo_t* info) noexcept {
  if (getpid() != 1) {
    set_default(signal);
    change_mask(SIG_UNBLOCK, signal);
    send_again(signal, info);
  }
  _exit(kStatusOfSignal + signal);
}

void die_on_return(int signal, siginfo_t* info) noexcept {
  if (getpid() == 1) {
    _exit(kStatusOfSignal + signal);
  }
  set_default(signal);
  if (is_fault(signal, *info)) {
    return;
  }
  // It waits until the mask of before is back, which is when we have returned.
  change_mask(SIG_BLOCK, signal);
  if (!send_again(signal, info)) {
    _exit(kStatusOfSignal + signal);
  }
}

}  // namespace mishap::collector::detail
