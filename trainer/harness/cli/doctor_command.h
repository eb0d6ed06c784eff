#pragma once

#include <mishap/trainer/harness/cli/command.h>
#include <mishap/trainer/harness/cli/probes.h>

#include <vector>

namespace mishap::cli {

/// `doctor`: one line a probe; status 1 when one of them failed.
Command doctor_command(std::vector<Probe> probes);

}  // namespace mishap::cli
