#pragma once

#include <mishap/trainer/guard/contract.h>

#include <memory>

namespace torch::nn {
class Module;
}

namespace mishap {

/// C7: LibTorch's process-wide and thread-local modes are as before the call,
/// and the sanity check took no random numbers from the training.
std::unique_ptr<Checker> check_torch_modes();

/// C8: the training flag of each submodule is as before the call.
std::unique_ptr<Checker> check_training_flags(const torch::nn::Module& module);

}  // namespace mishap
