#include <linux/futex.h>
#include <mishap/trainer/harness/program/turn_wait.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace mishap::program {

// The futex lies in a file that both map: not a private one.
Turn wait_while(Control& control, Turn turn, std::chrono::milliseconds moment) {
  const auto now = static_cast<Turn>(control.turn.load());
  if (now != turn) {
    return now;
  }
  const timespec time{moment.count() / 1000, moment.count() % 1000 * 1'000'000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&control.turn),
          FUTEX_WAIT, static_cast<std::uint32_t>(turn), &time, nullptr, 0);
  return static_cast<Turn>(control.turn.load());
}

void give_turn(Control& control, Turn turn) {
  control.turn.store(static_cast<std::uint32_t>(turn));
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&control.turn),
          FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace mishap::program
