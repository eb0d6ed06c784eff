#pragma once

#include <mishap/trainer/harness/cli/command.h>

namespace mishap::cli {

/// `watch`: runs a program and leaves a record however it ends.
Command watch_command();

}  // namespace mishap::cli
