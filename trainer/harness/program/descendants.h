#pragma once

#include <sys/types.h>

#include <vector>

namespace mishap::program {

/// The children of all threads of a process that have not ended; empty when
/// there is no such process.
std::vector<pid_t> children_of(pid_t process);

/// Children, their children, and so on.
std::vector<pid_t> descendants_of(pid_t process);

/// Ends (SIGKILL) every descendant of a process but those in `spared` and
/// theirs, until there is none, for at most some seconds. Those that lose their
/// parent have to become the process's own (PR_SET_CHILD_SUBREAPER). Reaps its
/// own children when the process is this one.
void kill_descendants(pid_t process, const std::vector<pid_t>& spared = {});

}  // namespace mishap::program
