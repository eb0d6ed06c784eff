#pragma once

#include <mishap/trainer/harness/cli/command.h>

namespace mishap::app {

/// `run`: trains a task for real, guarded.
cli::Command run_command();

}  // namespace mishap::app
