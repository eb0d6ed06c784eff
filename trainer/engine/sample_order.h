#pragma once

#include <mishap/trainer/engine/loader_options.h>
#include <mishap/trainer/engine/state.h>
#include <torch/torch.h>

#include <cstdint>

namespace mishap {

/// In which order the samples of a pass come. Has a generator of its own, so
/// that loading draws nothing from the process-wide one.
class SampleOrder {
 public:
  explicit SampleOrder(const LoaderOptions& options);

  bool shuffled() const noexcept { return shuffle_; }

  /// Indices 0 … samples-1 as pass number `pass` visits them. The same seed
  /// and pass always give the same order.
  torch::Tensor indices(std::int64_t samples, std::int64_t pass) const;

  /// Its seed, for checkpoints.
  State state() const;
  void load_state(const State& state);

 private:
  bool shuffle_;
  std::uint64_t seed_ = 0;
};

}  // namespace mishap
