#pragma once

#include <mishap/trainer/harness/cli/command.h>

namespace mishap::cli {

/// `points`, `sweep`, `run`: with `-- PROGRAM` of any program, done here; of a
/// task by `mishap-torch`.
Command points_of_program_or_task();
Command sweep_of_program_or_task();
Command run_of_program_or_task();

}  // namespace mishap::cli
