#include <mishap/collector/io/quiet_signals.h>

#include <cerrno>
#include <ctime>
#include <initializer_list>

namespace mishap::collector {

QuietSignals::QuietSignals() noexcept {
  sigset_t pending;
  sigset_t blocked;
  sigemptyset(&ours_);
  sigemptyset(&pending);
  sigemptyset(&blocked);
  sigpending(&pending);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    sigaddset(&blocked, signal);
    if (sigismember(&pending, signal) == 0) sigaddset(&ours_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &blocked, &previous_);
}

QuietSignals::~QuietSignals() {
  const int saved_errno = errno;
  constexpr timespec kNoWait{};
  while (sigtimedwait(&ours_, nullptr, &kNoWait) > 0 || errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
  errno = saved_errno;
}

}  // namespace mishap::collector
