#pragma once

#include <mishap/trainer/harness/cli/command.h>

namespace mishap::cli {

/// `watch`: runs a program and leaves a record however it ends.
Command watch_command();

/// `run --faults SPEC -- PROGRAM`: the same with a plan armed in the program.
int run_under_faults(const Invocation& invocation);

}  // namespace mishap::cli
