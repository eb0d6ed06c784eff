#pragma once

#include <signal.h>

#include <cerrno>
#include <ctime>

namespace mishap::detail {

/// While it lives, a write of this thread beyond RLIMIT_FSIZE fails with EFBIG
/// and sends no SIGXFSZ, which would end the process.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() noexcept {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t waiting;
    sigpending(&waiting);
    was_pending_ = sigismember(&waiting, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoFileSizeSignal() {
    constexpr timespec kNoWait{};
    while (!was_pending_ && sigtimedwait(&signal_, nullptr, &kNoWait) == -1 &&
           errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t signal_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace mishap::detail
