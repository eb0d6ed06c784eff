#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mishap {

/// What a loader yields and a step consumes.
struct Batch {
  torch::Tensor data;
  /// Undefined where there is nothing to compare with, as in predict.
  torch::Tensor target;
  /// Further tensors by name: masks, lengths, weights.
  std::vector<std::pair<std::string, torch::Tensor>> extra;

  /// Number of samples: the first dimension of data, else of target; 1 when
  /// neither has one.
  std::int64_t size() const;
};

}  // namespace mishap
