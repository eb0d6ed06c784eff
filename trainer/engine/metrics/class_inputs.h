#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>

namespace mishap::detail {

/// What a metric of a classification was given, checked and detached.
struct ClassInputs {
  /// [N, C, ...] of floats; undefined when classes were given.
  torch::Tensor scores;
  /// [N, ...] of int64; undefined when scores were given.
  torch::Tensor classes;
  /// [N, ...] of int64.
  torch::Tensor target;
};

/// `given` is scores or classes. `count` is how many classes there are, where
/// it is known. Throws InputError, naming `metric`, for shapes or types that do
/// not fit and for classes out of range; reading the range waits for an
/// accelerator.
ClassInputs class_inputs(const std::string& metric, const torch::Tensor& given,
                         const torch::Tensor& target,
                         std::optional<std::int64_t> count,
                         const torch::Device& device);

}  // namespace mishap::detail
