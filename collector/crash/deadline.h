#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>

namespace mishap::collector {

/// Calls a function when a time has passed, whatever the threads of the process
/// are doing: in the handler of own_signal.h's signal, on a thread that does
/// not block it. The kernel keeps the time; no thread waits for it.
///
/// Must have static storage. Dies with the process; a child made by fork() has
/// none armed.
class Deadline {
 public:
  /// Called in a signal handler, all signals blocked: must be
  /// async-signal-safe. `context` is the handler's third argument.
  using Action = void (*)(const void* context);

  constexpr explicit Deadline(Action action) noexcept : action_(action) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// Arms it, or arms it anew. By CLOCK_MONOTONIC. False when the kernel or the
  /// signals have no room for it. Async-signal-safe; one call at a time.
  bool arm(std::chrono::nanoseconds after) noexcept;

  /// The action is not called any more, except where it runs already.
  /// Async-signal-safe; not while arm() runs.
  void disarm() noexcept;

 private:
  friend struct DeadlineList;

  bool set(std::chrono::nanoseconds after) noexcept;

  const Action action_;
  std::atomic<bool> armed_{false};
  std::atomic<pid_t> process_{0};
  std::atomic<int> timer_{0};
  std::atomic<int> signal_{0};
};

namespace detail {

/// In the handler of the signal: calls the action of the deadline that `value`
/// points to. False when it points to none of them.
bool pass_deadline(const void* value, const void* context) noexcept;

}  // namespace detail

}  // namespace mishap::collector
