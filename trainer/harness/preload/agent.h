#pragma once

#include <mishap/trainer/harness/program/control.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace mishap::preload {

/// What the agent does in this process.
enum class Work : std::uint8_t {
  kNothing,
  /// As the control file says: count, fork at planned hits, fail at one.
  kSweep,
  /// A plan of faults is armed.
  kPlan,
  /// The fault of a case has struck, or strikes next, in this process.
  kCase,
};

/// The agent of a process. Set up once, when the program is loaded, before its
/// main(); what is not atomic is constant from then on, but in a case's child.
struct Agent {
  std::atomic<Work> work{Work::kNothing};
  /// In plan mode memory of our own, which nobody reads.
  program::Control* control = nullptr;
  program::Mode mode = program::Mode::kCount;
  /// The process that works: not its children, by whichever way they came.
  pid_t process = 0;
  pid_t parent = 0;
  ino_t control_inode = 0;
};

extern constinit Agent agent;

/// One relaxed load.
inline bool is_working() noexcept {
  return agent.work.load(std::memory_order_relaxed) != Work::kNothing;
}

/// Whether this is the thread that main() runs on.
bool is_main_thread() noexcept;

/// A child that is forked from now on works, or does nothing, as all others.
void let_next_fork_work(bool works) noexcept;

/// Whether this process was started by a sweep, as its subject or a helper of
/// it: then it leaves no records of its own.
bool is_of_sweep() noexcept;

/// Maps the control file or arms the plan, where the environment asks this
/// process for it. When the program is loaded.
void start_agent();

}  // namespace mishap::preload
