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

/// Copies the saved values into the module's own tensors. REQUIRES: they match.
void load_into(Module& module, const State& state);

/// Gradients that wait for an update, by the names of their parameters.
State gradients_of(const Module& module);
void load_gradients(Module& module, const State& state);

}  // namespace mishap::detail
