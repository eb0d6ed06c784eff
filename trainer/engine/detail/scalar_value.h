#pragma once

#include <torch/torch.h>

namespace mishap::detail {

/// The value of a tensor of one element, as item() tells it. Of a plain tensor
/// in main memory it is read where it lies: item() takes a microsecond or more,
/// as much as all hooks of a step. Throws c10::Error where item() does.
double scalar_value(const torch::Tensor& tensor);

}  // namespace mishap::detail
