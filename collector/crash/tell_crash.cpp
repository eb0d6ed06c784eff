#include <mishap/collector/crash/signal_words.h>
#include <mishap/collector/crash/stuck_timer.h>
#include <mishap/collector/crash/tell_crash.h>
#include <mishap/collector/io/bounded_write.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

namespace mishap::collector::detail {
namespace {

bool is_about_memory_or_code(int signal) noexcept {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
         signal == SIGILL || signal == SIGTRAP;
}

void describe_recursion(Crash& crash) noexcept {
  if (crash.stack.rounds() > 0) {
    crash.message << ", " << crash.stack.rounds() << " rounds of "
                  << crash.stack.round_frames()
                  << (crash.stack.round_frames() == 1 ? " frame, "
                                                      : " frames, ")
                  << crash.stack.depth() << " frames in all";
  }
}

// What the handler is at, for a fault inside it.
enum class Doing : std::uint8_t { kNothing, kDescribing, kTelling };
constinit std::atomic<Doing> doing{Doing::kNothing};

// Plain memory, so that it is there before and after all else.
constinit Crash crash_storage{};

// How far below its end a used-up stack is touched: the guard pages of the
// kernel and of the C library, and one large frame.
constexpr std::uintptr_t kReach = 16U << 20U;
// Above the end: the main thread's is known only up to its arguments.
constexpr std::uintptr_t kSlack = 512U << 10U;

bool is_overflow(int signal, const siginfo_t& info, const Crash& crash) {
  if ((signal != SIGSEGV && signal != SIGBUS) || info.si_code <= 0 ||
      crash.thread.stack_low == 0) {
    return false;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const std::uintptr_t sp = crash.registers.stack_pointer;
  const std::uintptr_t low = crash.thread.stack_low;
  const bool is_main = crash.thread.id == getpid();
  const std::uintptr_t top = low + (is_main ? kSlack : 0);
  // A push lies just below the stack pointer, a local above it.
  constexpr std::uintptr_t kRedZone = 256;
  return address < top && address + kReach > low && sp < top + kSlack &&
         sp + kReach > low && address + kRedZone >= sp;
}

}  // namespace

Crash& crash_in_progress() noexcept { return crash_storage; }

void describe_signal(int signal, const siginfo_t& info, const void* context,
                     Crash& crash) noexcept {
  crash.cause = Crash::Cause::kSignal;
  crash.error = nullptr;
  crash.while_unwinding = nullptr;
  crash.dies_by = signal;
  crash.is_second_try = false;
  crash.thread = this_thread_view();
  crash.thread_name = thread_name(crash.thread.id);
  crash.registers = Registers(context);
  crash.signal = {};
  crash.signal.number = signal;
  crash.signal.name = signal_name(signal);
  crash.signal.code = info.si_code;
  crash.signal.code_name = signal_code_name(signal, info.si_code);
  crash.type = crash.signal.name;
  crash.message.clear();
  const bool is_sent = info.si_code <= 0;
  crash.is_stack_overflow = is_overflow(signal, info, crash);
  if (crash.is_stack_overflow) {
    crash.message << "stack overflow";
  } else {
    crash.message << signal_meaning(signal, info.si_code);
  }
  if (is_about_memory_or_code(signal) && !is_sent) {
    crash.signal.address = reinterpret_cast<std::uintptr_t>(info.si_addr);
    if ((signal == SIGSEGV || signal == SIGBUS) && !crash.is_stack_overflow) {
      crash.message << " at ";
      crash.message.hex(*crash.signal.address);
    }
  }
  if (signal == SIGSYS && !is_sent) {
    crash.signal.address = reinterpret_cast<std::uintptr_t>(info.si_call_addr);
    crash.message << ", call number " << info.si_syscall;
  }
  if (is_sent && info.si_pid != getpid() && info.si_pid > 0) {
    crash.signal.sender_pid = info.si_pid;
    crash.message << " from process " << info.si_pid;
  }
}

void begin_describing() noexcept { doing.store(Doing::kDescribing); }

void tell(Crash& crash) noexcept {
  if (!crash.is_second_try) {
    describe_recursion(crash);
  }
  doing.store(Doing::kTelling);
  if (CrashTeller* const teller = crash_teller()) {
    teller->tell(crash);
  } else {
    bounded_write(STDERR_FILENO,
                  {"mishap: ", crash.type, ": ", crash.message.view(), "\n"},
                  std::chrono::milliseconds(100));
  }
  doing.store(Doing::kNothing);
}

void tell_nested() noexcept {
  Crash& crash = crash_storage;
  const Doing before = doing.exchange(Doing::kNothing);
  if (before == Doing::kDescribing) {
    // A damaged stack faults when it is walked, an exception when it is read.
    if (crash.cause == Crash::Cause::kSignal) {
      crash.stack.take_instruction(crash.registers.instruction);
    }
    crash.error = nullptr;
    crash.while_unwinding = nullptr;
    tell(crash);
  } else if (before == Doing::kTelling && !crash.is_second_try) {
    crash.is_second_try = true;
    tell(crash);
  }
  StuckTimer::end_process();
}

}  // namespace mishap::collector::detail
