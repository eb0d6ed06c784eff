#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mishap::cli {

/// What a child process starts with in place of this process's environment.
struct ChildEnvironment {
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<std::string> unset;
};

struct ChildResult {
  /// As a shell has it: the exit status, or 128 + the signal that ended it.
  int status = 0;
  /// What it wrote on stdout.
  std::string output;
  /// What it wrote on stderr.
  std::string errors;
};

/// Runs a program, found like a shell finds it, and waits for its end. Signals
/// that this process ignores are back at their default there.
///
/// Throws std::system_error when it cannot be started.
ChildResult run_child(const std::vector<std::string>& words,
                      const ChildEnvironment& environment);

}  // namespace mishap::cli
