#pragma once

#include <mishap/trainer/guard/contract.h>

#include <memory>

namespace mishap {

class TrainerWorld;

/// C11: after the failure every entry point that works on a fresh trainer works
/// on the same one, and a fit equals, bit for bit, the fit of a fresh trainer
/// with the same weights.
std::unique_ptr<Checker> check_reuse(TrainerWorld& world);

/// C9: no more tensor memory is alive than a clean call of the same entry point
/// leaves, measured once for each entry point.
std::unique_ptr<Checker> check_tensor_memory(TrainerWorld& world);

}  // namespace mishap
