#pragma once

#include <torch/torch.h>

#include <vector>

namespace mishap::detail {

/// While it lives, random numbers may be drawn; afterwards LibTorch's
/// generators for the CPU and for `device` are as they were.
class RngIsolation {
 public:
  explicit RngIsolation(const torch::Device& device);
  ~RngIsolation();
  RngIsolation(const RngIsolation&) = delete;
  RngIsolation& operator=(const RngIsolation&) = delete;

 private:
  struct Saved {
    at::Generator generator;
    torch::Tensor state;
  };

  void save(at::Generator generator);

  std::vector<Saved> saved_;
};

}  // namespace mishap::detail
