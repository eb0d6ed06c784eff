#pragma once

#include <torch/torch.h>

#include <string_view>

namespace mishap {

/// The device that a text like "cpu", "cuda" or "cuda:1" names; "auto" is CUDA
/// where there is a device and else the CPU.
///
/// Throws InputError saying what is wrong: an empty text, a typo, or a device
/// that this LibTorch or this machine does not have.
torch::Device device_from(std::string_view text);

}  // namespace mishap
