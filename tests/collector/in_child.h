#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace mishap::collector {

/// Whether `check` held in a forked child: for what cannot be undone in a
/// process.
inline bool holds_in_child(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace mishap::collector
