#pragma once

#include <chrono>
#include <mutex>
#include <thread>

namespace mishap {

/// Takes the lock, or gives up after a tenth of a second: its owner may be the
/// very thread that asks, in the middle of what it does.
inline std::unique_lock<std::mutex> bounded_lock(std::mutex& mutex) noexcept {
  constexpr int kTries = 100;
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int i = 0; i < kTries && !lock; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock = std::unique_lock(mutex, std::try_to_lock);
  }
  return lock;
}

}  // namespace mishap
