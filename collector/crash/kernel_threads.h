#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mishap::collector {

/// A thread of another process, as /proc shows it.
struct KernelThread {
  std::int64_t id = 0;
  std::string name;
  /// State letter and wait channel, as "S futex_wait_queue".
  std::string state;
};

/// The threads of that process in the order of their ids; those that end
/// meanwhile are left out. Needs no right to trace it.
std::vector<KernelThread> kernel_threads(pid_t process);

}  // namespace mishap::collector
