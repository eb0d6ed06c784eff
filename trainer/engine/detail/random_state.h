#pragma once

#include <mishap/trainer/engine/state.h>
#include <torch/torch.h>

#include <vector>

namespace mishap::detail {

/// The states of LibTorch's generators for the CPU and for a device.
class RandomState {
 public:
  /// As they are now.
  static RandomState of(const torch::Device& device);

  /// Sets the generators back.
  void restore() const;

  State state() const;
  /// Takes saved states for the generators of this machine; one that was saved
  /// for a device that is not used now is left out.
  void load_state(const State& state);

 private:
  struct Saved {
    at::Generator generator;
    torch::Tensor state;
  };

  void add(at::Generator generator);

  // The CPU's first.
  std::vector<Saved> saved_;
};

}  // namespace mishap::detail
