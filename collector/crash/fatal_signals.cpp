#include <mishap/collector/crash/crash_claim.h>
#include <mishap/collector/crash/die.h>
#include <mishap/collector/crash/fatal_signals.h>
#include <mishap/collector/crash/previous_actions.h>
#include <mishap/collector/crash/stuck_timer.h>
#include <mishap/collector/crash/tell_crash.h>
#include <mishap/collector/crash/terminate.h>
#include <mishap/collector/modules.h>
#include <mishap/collector/quiet_lock.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace mishap::collector {
namespace {

using detail::CrashClaim;

constinit std::mutex installing;
constinit int scopes = 0;
constinit bool is_kept = false;
constinit std::atomic<bool> is_active{false};

constinit detail::StuckTimer timer;

// The signal that a function of the program was given; 0 for none.
constinit std::atomic<int> handed_on{0};
// The fault that a function of the program returned from: it comes again.
constinit std::atomic<std::uintptr_t> returned_to{UINTPTR_MAX};

void tell_first(int signal, const siginfo_t& info,
                const void* context) noexcept {
  timer.arm(signal, info);
  Crash& crash = detail::crash_in_progress();
  detail::begin_describing();
  detail::describe_signal(signal, info, context, crash);
  crash.stack.take_instruction(crash.registers.instruction);
  crash.stack.take(crash.registers, crash.thread);
  detail::tell(crash);
  timer.disarm();
  CrashClaim::tell_done();
}

void hand_on(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction before = detail::previous_action(signal);
  if (!detail::is_function(before)) {
    detail::die_on_return(signal, info);
    return;
  }
  handed_on.store(signal);
  detail::call_function(before, signal, info, context);
  handed_on.store(0);
  // It did not end the process: whatever it did, its word counts.
  returned_to.store(Registers(context).instruction);
  CrashClaim::release();
}

void on_fatal_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const struct sigaction before = detail::previous_action(signal);
  const bool is_ignored =
      (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN;
  if (is_ignored && !detail::is_fault(signal, *info)) {
    return;
  }
  const bool comes_again = detail::is_fault(signal, *info) &&
                           returned_to.load() == Registers(context).instruction;
  if (is_active.load() && !comes_again) {
    const auto here = reinterpret_cast<std::uintptr_t>(&saved_errno);
    switch (CrashClaim::make(here, CrashClaim::Reach::kHandler)) {
      case CrashClaim::Answer::kFirst:
        tell_first(signal, *info, context);
        break;
      case CrashClaim::Answer::kNested:
        detail::tell_nested();
      case CrashClaim::Answer::kTold:
        // What ours was put over handed back to it: its end is the default.
        if (handed_on.load() == signal) {
          detail::die_by(signal, info);
        }
        break;
    }
  }
  hand_on(signal, info, context);
  errno = saved_errno;
}

// Over whatever the program has put there since the last run.
void install() noexcept {
  detail::install_over_previous(on_fatal_signal);
  detail::install_terminate_handler();
  is_active.store(true);
}

}  // namespace

CrashScope::CrashScope() noexcept {
  CrashStack::warm_up();
  const QuietLock lock(installing);
  if (scopes++ == 0) {
    install();
  }
}

CrashScope::~CrashScope() {
  const QuietLock lock(installing);
  if (--scopes == 0 && !is_kept) {
    is_active.store(false);
    detail::give_back_previous(on_fatal_signal);
    detail::give_back_terminate_handler();
  }
}

void keep_crash_handlers() noexcept {
  CrashStack::warm_up();
  const QuietLock lock(installing);
  is_kept = true;
  install();
}

}  // namespace mishap::collector
