#pragma once

#include <mishap/trainer/cli_torch/task_choice.h>

#include <optional>
#include <string>
#include <vector>

namespace mishap::app {

/// What a person asked `run` for.
struct RunWords {
  TaskChoice choice;
  std::string entry_point = "all";
  std::string faults;
  std::string records;
  std::string device;
  /// An absolute path; empty when none was given.
  std::string checkpoint;
  bool rows = false;
  bool world = false;
  bool json = false;

  /// The entry points to call, in order.
  std::vector<std::string> entry_points() const;
};

/// Nothing when the help was asked for. Throws InputError.
std::optional<RunWords> read_run_words(const cli::Invocation& invocation);

/// The command that repeats such a run, without its faults.
std::string repeat_command(const RunWords& words);

/// The command that runs an entry point of the sweep's world, without a fault.
std::string world_command(const TaskChoice& choice,
                          const std::string& entry_point);

}  // namespace mishap::app
