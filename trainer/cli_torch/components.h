#pragma once

#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/engine/options.h>

#include <string>
#include <vector>

namespace mishap::app {

/// The names of all components that a call of an entry point with this module
/// and these options has, as the engine will give them.
std::vector<std::string> components_of(Module& module,
                                       const TrainerOptions& options);

}  // namespace mishap::app
