#pragma once

#include <mishap/trainer/harness/cli/command.h>

namespace mishap::cli {

/// `show`: records for a person, from a file, a folder or standard input.
Command show_command();

}  // namespace mishap::cli
