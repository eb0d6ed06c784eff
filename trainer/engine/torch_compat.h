#pragma once

#include <c10/util/Exception.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <utility>

namespace mishap::compat {

// What differs between LibTorch 1.13 and later versions, and nothing else.

/// What a torch::data set's size() returns: c10::optional, later std::optional.
using DatasetSize =
    decltype(std::declval<const torch::data::datasets::TensorDataset&>()
                 .size());

/// What a torch::data sampler's next() returns.
using BatchIndices =
    decltype(std::declval<torch::data::samplers::SequentialSampler&>().next(1));

/// The argument of a sampler's reset().
using SamplerSize = torch::optional<std::size_t>;

#if TORCH_VERSION_MAJOR >= 2
namespace warnings = c10::WarningUtils;
#else
namespace warnings = c10::Warning;
#endif

}  // namespace mishap::compat
