#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace mishap::collector {

/// What the control group of a process says of memory. Empty what it does not
/// say, or where it has none.
struct MemoryEvidence {
  /// Processes that were killed for want of memory, since the group was made.
  std::optional<std::int64_t> oom_kills;
  std::optional<std::int64_t> peak_bytes;
  /// Empty when there is none.
  std::optional<std::int64_t> limit_bytes;
};

/// Reads the files of the process's memory group, of version 2
/// (`memory.events`, `memory.peak`, `memory.max`) or 1 (`memory.oom_control`,
/// ...). `root` stands before /proc and /sys, for tests. Allocates; never
/// throws for a file that is not there.
MemoryEvidence memory_evidence(pid_t process, const std::string& root = "");

}  // namespace mishap::collector
