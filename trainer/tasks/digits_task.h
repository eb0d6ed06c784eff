#pragma once

#include <mishap/trainer/cli_torch/app.h>

namespace mishap::tasks {

/// Handwritten digits as a task for the command line.
Task digits_task();

}  // namespace mishap::tasks
