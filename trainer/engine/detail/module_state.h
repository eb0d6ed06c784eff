#pragma once

#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/engine/state.h>

namespace mishap::detail {

/// Parameters and buffers of the module and all its submodules, by name.
State state_of(const Module& module);

/// Copies of the buffers, by the same names: a forward pass changes them.
State copy_of_buffers(const Module& module);

/// Throws CheckpointError naming the tensors that are missing, that the module
/// does not have, and those of another shape or type.
void check_matches(const Module& module, const State& state);

/// Copies the saved values into the module's own tensors and returns what they
/// held; when one can't be written, all are as before. REQUIRES: they match.
State load_into(Module& module, const State& state);

/// Which parameters have a gradient, by their names; with its values when they
/// are `summed`, as zeros else, since an optimizer steps over parameters that
/// have none.
State gradients_of(const Module& module, bool summed);
void load_gradients(Module& module, const State& state);

}  // namespace mishap::detail
