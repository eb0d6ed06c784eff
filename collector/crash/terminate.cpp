#include <mishap/collector/crash/crash_claim.h>
#include <mishap/collector/crash/stuck_timer.h>
#include <mishap/collector/crash/tell_crash.h>
#include <mishap/collector/crash/terminate.h>
#include <mishap/collector/exception_chain.h>
#include <mishap/collector/exception_object.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

namespace mishap::collector::detail {
namespace {

constinit std::atomic<std::terminate_handler> previous{nullptr};
// Too large for a stack, and made before memory can be short.
constinit ExceptionChain* chain = nullptr;
constinit StuckTimer timer;

[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_terminating =
    false;

[[noreturn]] void hand_on() {
  const std::terminate_handler handler = previous.load();
  if (handler != nullptr) {
    handler();
  }
  std::abort();
}

void describe(const std::exception_ptr& error, Crash& crash) noexcept {
  crash.message.clear();
  if (!error) {
    crash.type = "std::terminate";
    crash.message << "called without an active exception";
    return;
  }
  crash.type = "std::terminate";
  crash.message << "called for an exception that cannot be read";
  if (chain == nullptr) {
    return;
  }
  chain->describe(error);
  if (!chain->entries().empty()) {
    crash.type = chain->entries().front().type;
    crash.message.clear();
    crash.message << chain->entries().front().message;
  }
}

void tell_terminate(const void* caller) noexcept {
  siginfo_t info{};
  info.si_signo = SIGABRT;
  info.si_code = SI_TKILL;
  info.si_pid = getpid();
  info.si_uid = getuid();
  timer.arm(SIGABRT, info);
  Crash& crash = crash_in_progress();
  begin_describing();
  crash.cause = Crash::Cause::kTerminate;
  crash.thread = this_thread_view();
  crash.thread_name = thread_name(crash.thread.id);
  crash.signal = {};
  crash.registers = {};
  crash.is_stack_overflow = false;
  crash.is_second_try = false;
  crash.dies_by = SIGABRT;
  crash.stack.take_here(caller);

  const std::exception_ptr last = std::current_exception();
  const std::optional<ThrowSite> site = find_throw_site(last);
  const BorrowedException under_way(site ? site->unwinding : nullptr);
  // Only what the hook saw and is still alive can be looked at.
  const bool has_first = under_way.get() && find_throw_site(under_way.get());
  const std::exception_ptr& first = has_first ? under_way.get() : last;
  describe(first, crash);
  crash.error = first ? &first : nullptr;
  crash.while_unwinding = has_first ? &last : nullptr;
  tell(crash);
  crash.error = nullptr;
  crash.while_unwinding = nullptr;
  timer.disarm();
}

[[noreturn]] void on_terminate() {
  // what() of the exception, or a handler below ours, may end up here again.
  if (!is_terminating) {
    is_terminating = true;
    const char here = 0;
    if (CrashClaim::make(reinterpret_cast<std::uintptr_t>(&here),
                         CrashClaim::Reach::kThread) ==
        CrashClaim::Answer::kFirst) {
      tell_terminate(__builtin_return_address(0));
      CrashClaim::tell_done();
    }
    hand_on();
  }
  std::abort();
}

}  // namespace

void install_terminate_handler() noexcept {
  if (chain == nullptr) {
    chain = new (std::nothrow) ExceptionChain;
  }
  if (std::get_terminate() != on_terminate) {
    previous.store(std::set_terminate(on_terminate));
  }
}

void give_back_terminate_handler() noexcept {
  if (std::get_terminate() == on_terminate) {
    std::set_terminate(previous.load());
  }
}

}  // namespace mishap::collector::detail
