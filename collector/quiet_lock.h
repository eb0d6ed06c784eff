#pragma once

#include <pthread.h>

#include <mutex>

namespace mishap::collector {

/// Holds a mutex while it lives, and goes without one that the system does not
/// give: std::lock_guard throws then, where nothing may throw.
class QuietLock {
 public:
  explicit QuietLock(std::mutex& mutex) noexcept
      : mutex_(mutex.native_handle()),
        is_held_(pthread_mutex_lock(mutex_) == 0) {}
  ~QuietLock() {
    if (is_held_) {
      pthread_mutex_unlock(mutex_);
    }
  }
  QuietLock(const QuietLock&) = delete;
  QuietLock& operator=(const QuietLock&) = delete;

 private:
  pthread_mutex_t* mutex_;
  bool is_held_;
};

}  // namespace mishap::collector
