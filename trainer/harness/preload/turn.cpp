#include <linux/futex.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/turn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

namespace mishap::preload {
namespace {

bool is_supervisors(program::Turn turn) noexcept {
  return turn == program::Turn::kAtCase || turn == program::Turn::kChildEnded;
}

}  // namespace

program::Turn hand_turn(program::Turn turn) noexcept {
  std::atomic<std::uint32_t>& word = agent.control->turn;
  word.store(static_cast<std::uint32_t>(turn));
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  while (true) {
    const std::uint32_t now = word.load();
    if (!is_supervisors(static_cast<program::Turn>(now))) {
      return static_cast<program::Turn>(now);
    }
    const timespec second{1, 0};
    syscall(SYS_futex, &word, FUTEX_WAIT, now, &second, nullptr, 0);
    if (getppid() != agent.parent) {
      // Who started the program is gone, and would have ended it.
      _exit(125);
    }
  }
}

}  // namespace mishap::preload
