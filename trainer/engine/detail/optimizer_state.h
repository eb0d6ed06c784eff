#pragma once

#include <mishap/trainer/engine/optimizers.h>
#include <mishap/trainer/engine/state.h>

namespace mishap::detail {

/// Optimizers and schedulers.
State state_of(Optimizers& optimizers);

/// Throws CheckpointError when the saved ones are of another kind, number or
/// size; nothing was loaded then.
void load_into(Optimizers& optimizers, const State& state);

}  // namespace mishap::detail
