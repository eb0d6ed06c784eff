#pragma once

#include <signal.h>

namespace mishap::collector::detail {

/// While armed, ends the process by the signal that came first when its handler
/// does not get on: a wait in it is interrupted, a loop is left for good.
/// Everything here is async-signal-safe. One at a time in a process.
class StuckTimer {
 public:
  /// How long a handler may take.
  static constexpr int kSeconds = 3;

  /// The process ends by `signal`, whose information was `info`.
  void arm(int signal, const siginfo_t& info) noexcept;
  /// Puts back what was there for the alarm.
  void disarm() noexcept;

  /// What happens when the time is up.
  [[noreturn]] static void end_process() noexcept;

 private:
  int timer_ = -1;
  bool is_armed_ = false;
  struct sigaction previous_ {};
};

}  // namespace mishap::collector::detail
