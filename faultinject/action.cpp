#include <mishap/faultinject/action.h>
#include <mishap/faultinject/action_arguments.h>
#include <mishap/faultinject/pause_gate.h>
#include <mishap/faultinject/stderr_line.h>
#include <mishap/faultinject/throw_type.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>

namespace mishap::faultinject {
namespace {

void print(const Performance& what) {
  write_stderr_line({"mishap: ", what.point, ": ", what.text});
}

void pause(const Performance& what) {
  if (what.gate != nullptr) what.gate->wait();
}

void yield(const Performance&) { std::this_thread::yield(); }

void sleep(const Performance& what) {
  std::this_thread::sleep_for(std::chrono::milliseconds(what.number));
}

void delay(const Performance& what) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(what.number);
  while (std::chrono::steady_clock::now() < end) {
  }
}

void panic(const Performance& what) {
  write_stderr_line({"mishap: panic at ", what.point, ": ", what.text});
  std::terminate();
}

void throw_injected(const Performance& what) {
  what.throw_type->thrower(what.text);
  throw std::logic_error("the throw type '" + what.throw_type->name +
                         "' threw nothing; its function has to throw");
}

void raise_signal(const Performance& what) {
  ::raise(static_cast<int>(what.number));
}

void abort(const Performance&) { std::abort(); }

void exit(const Performance& what) { std::exit(static_cast<int>(what.number)); }

void hang(const Performance&) {
  while (true) ::pause();
}

using enum Capability;

constexpr std::array kActions = {
    Action{ActionKind::kOff, "off", "", kControl, Then::kNextRule, read_none,
           nullptr},
    Action{ActionKind::kReturn, "return", "(value)", kReturn, Then::kEndOfHit,
           read_optional_text, nullptr},
    Action{ActionKind::kPrint, "print", "(text)", kControl, Then::kNextRule,
           read_optional_text, print},
    Action{ActionKind::kPause, "pause", "", kControl, Then::kNextRule,
           read_none, pause},
    Action{ActionKind::kYield, "yield", "", kControl, Then::kNextRule,
           read_none, yield},
    Action{ActionKind::kSleep, "sleep", "(milliseconds)", kControl,
           Then::kNextRule, read_milliseconds, sleep},
    Action{ActionKind::kDelay, "delay", "(milliseconds)", kControl,
           Then::kNextRule, read_milliseconds, delay},
    Action{ActionKind::kPanic, "panic", "(text)", kControl, Then::kEndOfHit,
           read_optional_text, panic},
    Action{ActionKind::kThrow, "throw", "(type, text)", kControl,
           Then::kEndOfHit, read_throw, throw_injected},
    Action{ActionKind::kInterrupt, "interrupt", "(SIGINT or SIGTERM)", kControl,
           Then::kEndOfHit, read_interrupt, raise_signal},
    Action{ActionKind::kSignal, "signal", "(name)", kControl, Then::kEndOfHit,
           read_signal, raise_signal},
    Action{ActionKind::kAbort, "abort", "", kControl, Then::kEndOfHit,
           read_none, abort},
    Action{ActionKind::kExit, "exit", "(code)", kControl, Then::kEndOfHit,
           read_exit_code, exit},
    Action{ActionKind::kHang, "hang", "", kControl, Then::kEndOfHit, read_none,
           hang},
    Action{ActionKind::kErrno, "errno", "(name)", kIo, Then::kEndOfHit,
           read_errno, nullptr},
    Action{ActionKind::kShort, "short", "(bytes)", kIo, Then::kEndOfHit,
           read_bytes, nullptr},
    Action{ActionKind::kTorn, "torn", "(bytes)", kIo, Then::kEndOfHit,
           read_bytes, nullptr},
    Action{ActionKind::kNan, "nan", "", kValue, Then::kEndOfHit, read_none,
           nullptr},
    Action{ActionKind::kInf, "inf", "", kValue, Then::kEndOfHit, read_none,
           nullptr},
    Action{ActionKind::kZero, "zero", "", kValue, Then::kEndOfHit, read_none,
           nullptr},
    Action{ActionKind::kBitflip, "bitflip", "(bit)", kValue, Then::kEndOfHit,
           read_bit, nullptr},
    Action{ActionKind::kCorrupt, "corrupt", "", kValue, Then::kEndOfHit,
           read_none, nullptr},
};

constexpr bool is_in_order_of_kinds() {
  for (std::size_t i = 0; i < kActions.size(); ++i) {
    if (static_cast<std::size_t>(kActions[i].kind) != i) return false;
  }
  return true;
}
static_assert(is_in_order_of_kinds(), "the table is indexed by ActionKind");

}  // namespace

std::span<const Action> actions() { return kActions; }

const Action& action(ActionKind kind) {
  return kActions[static_cast<std::size_t>(kind)];
}

const Action* find_action(std::string_view word) {
  for (const Action& row : kActions) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

}  // namespace mishap::faultinject
