#pragma once

#include <mishap/trainer/tasks/digits_csv.h>
#include <torch/torch.h>

#include <filesystem>
#include <memory>

namespace mishap::tasks {

/// The rows of digits.csv as tensors: images n × 64 of float, labels n of
/// int64.
struct DigitTensors {
  torch::Tensor training_images, training_labels;
  torch::Tensor validation_images, validation_labels;
  torch::Tensor test_images, test_labels;
};

/// Reads `file`, or gives back what was read from it before, unless its size or
/// time has changed since. Thread-safe. Throws InputError like load_digits().
std::shared_ptr<const DigitTensors> digit_tensors(
    const std::filesystem::path& file);

}  // namespace mishap::tasks
