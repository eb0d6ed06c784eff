#pragma once

#include <mishap/trainer/cli_torch/app.h>
#include <mishap/trainer/guard/journal.h>
#include <mishap/trainer/harness/cli/command_line.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mishap::app {

/// Which task with which settings, as the commands have it in common.
class TaskChoice {
 public:
  /// Adds TASK, --set, --seed and --data to the command line.
  void add_to(cli::CommandLine& line);

  /// To be called after parsing. Throws InputError naming the word at fault.
  void resolve();

  const Task& task() const noexcept { return *task_; }
  /// What LibTorch's generators are seeded with before parts are made.
  std::uint64_t seed() const noexcept;

  /// The parts of the real thing, seeded.
  TaskParts make() const;
  /// Makes the parts of the sweep's world, every time from the same seed.
  /// Needs nothing of this object later.
  std::function<TaskParts(Journal&)> world() const;

  /// `PROGRAM command TASK` with these settings, for a shell.
  std::string command(const std::string& command) const;

 private:
  std::string name_;
  std::vector<std::string> sets_;
  std::string seed_word_;
  std::string data_;

  const Task* task_ = nullptr;
  TaskSettings settings_{{}};
  std::optional<std::uint64_t> seed_;
};

}  // namespace mishap::app
