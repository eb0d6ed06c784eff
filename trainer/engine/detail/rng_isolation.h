#pragma once

#include <mishap/trainer/engine/detail/random_state.h>

namespace mishap::detail {

/// While it lives, random numbers may be drawn; afterwards LibTorch's
/// generators for the CPU and for `device` are as they were.
class RngIsolation {
 public:
  explicit RngIsolation(const torch::Device& device)
      : before_(RandomState::of(device)) {}
  ~RngIsolation() { before_.restore(); }
  RngIsolation(const RngIsolation&) = delete;
  RngIsolation& operator=(const RngIsolation&) = delete;

 private:
  RandomState before_;
};

}  // namespace mishap::detail
