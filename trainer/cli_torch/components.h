#pragma once

#include <mishap/trainer/cli_torch/app.h>

#include <string>
#include <vector>

namespace mishap::app {

/// The names of all components that a call of an entry point with these parts
/// has, as the engine will give them.
std::vector<std::string> components_of(const TaskParts& parts);

}  // namespace mishap::app
