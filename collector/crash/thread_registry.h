#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mishap::collector {

/// One thread that we can say something about when the process fails.
struct RegisteredThread {
  /// The kernel's thread id.
  std::int32_t id = 0;
  /// main, caller, worker, ...: static storage.
  std::string_view role;
  /// The thread's stack: lowest address and one past the highest; 0 where it
  /// is not known (an unlimited main stack has no lowest address).
  std::uintptr_t stack_low = 0;
  std::uintptr_t stack_high = 0;
};

/// Registers the calling thread for as long as the outermost scope on it lives:
/// its id, its role, and an alternate stack that is large enough for a record,
/// so that a handler runs even when the thread's own stack is used up.
///
///     const ThreadScope thread("worker");    // first line of the thread
///
/// Scopes nest; an inner one changes nothing and costs a nanosecond. An
/// alternate stack of the program's own stays when it is large enough; a
/// smaller one is put back at the end. Must end on the thread that made it. In
/// a child made by fork() only the thread that forked is registered.
///
/// Never fails: with the registry full (kMaxThreads) or without memory for a
/// stack the thread goes on unregistered, or without one.
class ThreadScope {
 public:
  /// `role` must have static storage: a literal.
  explicit ThreadScope(const char* role) noexcept;
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;
};

/// Registers the calling thread until it ends, for threads whose first function
/// is not ours. Costs a nanosecond when it is registered already.
void register_thread_until_exit(const char* role) noexcept;

/// How many threads can be registered at once.
inline constexpr std::size_t kMaxThreads = 1024;

/// Copies the registered threads of this process into `out`, as many as fit,
/// and returns that number. A thread that comes or goes meanwhile is in it or
/// not. Lock-free, async-signal-safe.
std::size_t registered_threads(std::span<RegisteredThread> out) noexcept;

/// The thread with that kernel id; nothing when it is not registered.
/// Lock-free, async-signal-safe.
std::optional<RegisteredThread> find_registered_thread(
    std::int32_t id) noexcept;

/// The calling thread; without registration only its id and what can be told of
/// any thread: main or not. Async-signal-safe.
RegisteredThread this_thread_view() noexcept;

/// A thread's name.
struct ThreadName {
  std::array<char, 16> text{};
  std::string_view view() const noexcept;
};

/// What the kernel calls a thread of this process; empty when there is none.
/// Async-signal-safe.
ThreadName thread_name(std::int32_t id) noexcept;

/// Size of the alternate stacks that ThreadScope makes, and what one of the
/// program's own must have to be kept. 64 KiB at least; more under sanitizers.
std::size_t alternate_stack_bytes() noexcept;

}  // namespace mishap::collector
