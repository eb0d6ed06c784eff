#pragma once

#include <torch/torch.h>

namespace mishap {

/// What metrics have in common: a torch module whose buffers hold what was
/// counted. They move with the module that it is registered in and are saved
/// with it, but keep their types when that is given another.
class MetricModule : public torch::nn::Module {
 public:
  using torch::nn::Module::to;
  void to(torch::Device device, torch::Dtype,
          bool non_blocking = false) override {
    torch::nn::Module::to(device, non_blocking);
  }
  void to(torch::Dtype, bool = false) override {}
};

}  // namespace mishap
