#pragma once

#include <mishap/trainer/cli_torch/app.h>

namespace mishap::tasks {

/// The gauntlet as a task for the commands.
Task gauntlet_task();

}  // namespace mishap::tasks
