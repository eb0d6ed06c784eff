#pragma once

#include <mishap/collector/crash/crash_stack.h>
#include <mishap/collector/crash/fixed_text.h>
#include <mishap/collector/crash/registers.h>
#include <mishap/collector/crash/thread_registry.h>
#include <mishap/collector/record.h>

#include <cstdint>
#include <exception>

namespace mishap::collector {

/// What the handlers found out about a failure that ends the process.
struct Crash {
  enum class Cause : std::uint8_t { kSignal, kTerminate };

  Cause cause = Cause::kSignal;
  RegisteredThread thread;
  ThreadName thread_name;
  CrashStack stack;

  /// Of a signal; all empty when std::terminate() was called.
  RecordSignal signal;
  Registers registers;
  /// The thread's stack was used up.
  bool is_stack_overflow = false;

  /// Of std::terminate(): the exception that nobody caught; null without one.
  const std::exception_ptr* error = nullptr;
  /// The exception that was thrown while `error` unwound the stack; null
  /// without one.
  const std::exception_ptr* while_unwinding = nullptr;

  /// What records and people are told: the signal's name, the exception's type
  /// or "std::terminate", and one sentence.
  std::string_view type;
  FixedText<512> message;

  /// The number of the signal that the process dies by, as far as is known.
  int dies_by = 0;

  /// Telling of this crash failed once: what was touched then is damaged.
  bool is_second_try = false;
};

/// Who makes a record of a crash. One for the whole process.
class CrashTeller {
 public:
  virtual ~CrashTeller() = default;

  /// Writes down what is known. Called once for each crash, on the thread that
  /// fails, in a signal handler or in the terminate handler, possibly with a
  /// damaged heap and with any lock held: must be async-signal-safe, must not
  /// wait without bound, must return. After a fault inside it it is called once
  /// more, with `is_second_try`; another fault ends the process by the signal
  /// that came first.
  virtual void tell(const Crash& crash) noexcept = 0;
};

/// Sets the teller, null for none, and gives back the previous one. It must
/// live until the process ends. Thread-safe.
CrashTeller* set_crash_teller(CrashTeller* teller) noexcept;
CrashTeller* crash_teller() noexcept;

/// Fills the parts of a record that a crash decides: times, sequence, thread,
/// process, signal, registers, `exit.signal`. Place, identity, exceptions and
/// stacks are the teller's. The record's views point into `crash`.
/// Async-signal-safe.
void fill_crash(const Crash& crash, Record& record) noexcept;

/// How the teller numbers the modules of the run's row; nothing for a module
/// without a place there. `module` is an index for module_at().
using RowModule = std::optional<std::uint32_t> (*)(int module, void* context);

/// The crash's stack with its frames in `out` and its recursions in `repeats`,
/// as many as fit: addresses, modules and offsets, the names come later.
/// Async-signal-safe.
RecordStack fill_stack(const Crash& crash, std::span<RecordFrame> out,
                       std::span<RecordRepeat> repeats, RowModule row_module,
                       void* context) noexcept;

}  // namespace mishap::collector
