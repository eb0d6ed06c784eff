#pragma once

#include <mishap/trainer/harness/cli/command.h>

namespace mishap::cli {

/// `repro`: runs the command that a record names and compares what comes out.
Command repro_command();

}  // namespace mishap::cli
