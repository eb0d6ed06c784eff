#pragma once

#include <mishap/trainer/engine/batch.h>
#include <torch/torch.h>

#include <vector>

namespace mishap {

/// Makes a batch of what a torch::data set's get_batch() gives: single
/// examples are stacked, stacked ones and batches are taken as they are.
/// Samples of unequal size are a c10::Error, as from torch::stack.
Batch collate(Batch batch);
Batch collate(torch::data::Example<> stacked);
Batch collate(torch::data::TensorExample stacked);
Batch collate(const std::vector<torch::data::Example<>>& examples);
Batch collate(const std::vector<torch::data::TensorExample>& examples);

}  // namespace mishap
