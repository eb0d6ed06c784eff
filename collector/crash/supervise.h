#pragma once

#include <mishap/collector/crash/memory_evidence.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mishap::collector {

/// A program to run, and how it is watched.
struct Supervision {
  /// Found as a shell finds it.
  std::vector<std::string> words;
  /// Set over what this process has.
  std::vector<std::pair<std::string, std::string>> environment;
  /// Variables that tell the child its own process id, so that it can tell
  /// itself from what it starts.
  std::vector<std::string> id_variables;
  /// False: stderr is the child's own, and nothing of it is kept. True: it goes
  /// through a pipe, at once and unchanged.
  bool keeps_stderr = true;
  /// Without a sign of life for so long it hangs. Nothing: nobody looks.
  std::optional<std::chrono::milliseconds> hang_after;
  /// Signs of life so far, any number that changes; empty where what it writes
  /// on stderr is the only one. Called now and then.
  std::function<std::optional<std::uint64_t>(pid_t)> pulse;
  /// It hangs; called once for each silence, before anything is done to it.
  std::function<void(pid_t, std::chrono::milliseconds)> on_hang;
  /// Then end it: SIGTERM, after `kill_after` SIGKILL.
  bool ends_hung = false;
  std::chrono::milliseconds kill_after{10'000};
};

/// How a watched program ended.
struct Ending {
  pid_t process = 0;
  /// As waitpid() tells it.
  int wait_status = 0;
  /// It was ended because it hung.
  bool was_hung = false;
  /// Nothing where its stderr was its own.
  std::optional<std::string> stderr_tail;
  MemoryEvidence memory_before;
  MemoryEvidence memory_after;
  /// The largest resident set of it and of its children that it waited for.
  std::int64_t peak_rss_bytes = 0;
  /// Who sent the last signal of that number that was handed on to it; 0 when
  /// nobody did.
  pid_t sender_of(int signal) const noexcept;
  std::vector<std::pair<int, pid_t>> handed_on;
};

/// Runs the program and returns when it has ended, as if it ran in this
/// process's place: same terminal, same process group, signals as this process
/// found them. Hands on signals that a process sends here; those of the
/// terminal the child has already. Stops and goes on with it under job control.
/// Reaps whatever is left to this process, as process 1 has to.
///
/// For a process with one thread, once. Throws std::system_error when the
/// program cannot be started, its code is errno of exec; this process's signals
/// are blocked afterwards and stay so.
Ending supervise(const Supervision& supervision);

/// Ends this process as that one ended: the same exit status, or the same
/// signal without a core file. Process 1, which no signal ends by default,
/// exits with 128 + its number.
[[noreturn]] void end_like(int wait_status) noexcept;

}  // namespace mishap::collector
