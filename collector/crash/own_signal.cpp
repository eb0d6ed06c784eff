#include <mishap/collector/crash/deadline.h>
#include <mishap/collector/crash/own_signal.h>
#include <mishap/collector/crash/stack_dump.h>
#include <mishap/collector/crash/stack_request.h>
#include <mishap/collector/crash/task_file.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace mishap::collector {
namespace {

constinit std::atomic<int> chosen{0};

void on_own_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  void* const value = info->si_value.sival_ptr;
  if (info->si_code == SI_QUEUE && info->si_pid == getpid()) {
    detail::answer_stack_request(reinterpret_cast<std::uintptr_t>(value),
                                 context);
  } else if (info->si_code == SI_QUEUE && info->si_pid == getppid() &&
             reinterpret_cast<std::uintptr_t>(value) == detail::kStacksWanted &&
             detail::answer_stack_dump(context)) {
    // The parent has what it asked for.
  } else if (info->si_code != SI_TIMER ||
             !detail::pass_deadline(value, context)) {
    // Somebody else's: it does what it did without us.
    struct sigaction fallback {};
    fallback.sa_handler = SIG_DFL;
    sigaction(signal, &fallback, nullptr);
    raise(signal);
  }
  errno = saved_errno;
}

bool has_our_handler(int signal) noexcept {
  struct sigaction current {};
  return signal != 0 && sigaction(signal, nullptr, &current) == 0 &&
         (current.sa_flags & SA_SIGINFO) != 0 &&
         current.sa_sigaction == on_own_signal;
}

bool is_unused(int signal) noexcept {
  struct sigaction current {};
  return sigaction(signal, nullptr, &current) == 0 &&
         (current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler == SIG_DFL;
}

// Real-time signals that some thread blocks to wait for them. One that blocks
// them all waits for none.
std::uint64_t awaited_signals() noexcept {
  std::uint64_t all = 0;
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
    all |= detail::signal_bit(signal);
  }
  std::array<std::int32_t, 256> threads;
  const std::size_t count = detail::list_tasks(threads);
  std::uint64_t awaited = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t blocked =
        detail::read_blocked_signals(threads[i]) & all;
    awaited |= blocked == all ? 0 : blocked;
  }
  return awaited;
}

}  // namespace

int prepare_own_signal() noexcept {
  if (const int signal = chosen.load(); has_our_handler(signal)) {
    return signal;
  }
  const std::uint64_t awaited = awaited_signals();
  // The very last ones are what others take first.
  for (int signal = SIGRTMAX - 2; signal > SIGRTMIN; --signal) {
    if ((awaited & detail::signal_bit(signal)) != 0 || !is_unused(signal)) {
      continue;
    }
    struct sigaction ours {};
    ours.sa_sigaction = on_own_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&ours.sa_mask);
    if (sigaction(signal, &ours, nullptr) == 0) {
      chosen.store(signal);
      return signal;
    }
  }
  return 0;
}

int own_signal() noexcept { return chosen.load(); }

}  // namespace mishap::collector
