#pragma once

#include <atomic>

namespace mishap::faultinject {

/// Holds threads until it is opened, once and for all.
class PauseGate {
 public:
  void wait() const noexcept { open_.wait(false, std::memory_order_acquire); }
  void open() noexcept {
    open_.store(true, std::memory_order_release);
    open_.notify_all();
  }
  bool is_open() const noexcept {
    return open_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<bool> open_{false};
};

}  // namespace mishap::faultinject
