#pragma once

#include <mishap/trainer/harness/cli/command.h>

namespace mishap::app {

/// `points`: what a run of a task's world hits, and how often.
cli::Command points_command();

/// `sweep`: fails every hit of a task's world and judges the cleanup.
cli::Command sweep_command();

}  // namespace mishap::app
