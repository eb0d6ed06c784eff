#pragma once

#include <mishap/trainer/engine/sample_order.h>
#include <mishap/trainer/engine/torch_compat.h>

#include <cstdint>
#include <memory>

namespace mishap {

/// Hands the order of one pass to a torch::data loader. Copies share the pass,
/// so that the owner can set it on the copy that the loader holds.
class PassSampler final : public torch::data::samplers::Sampler<> {
 public:
  PassSampler(const LoaderOptions& options, std::int64_t samples);

  /// The pass that the next reset() begins, and the sample at which it does.
  void set_pass(std::int64_t pass, std::int64_t first = 0) noexcept {
    state_->pass = pass;
    state_->first = first;
  }
  SampleOrder& order() noexcept { return state_->order; }
  const SampleOrder& order() const noexcept { return state_->order; }

  void reset(compat::SamplerSize new_size = {}) override;
  compat::BatchIndices next(std::size_t batch_size) override;
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 private:
  struct Pass {
    SampleOrder order;
    std::int64_t samples;
    std::int64_t pass = 0;
    std::int64_t first = 0;
    std::int64_t position = 0;
    torch::Tensor indices;
  };

  std::shared_ptr<Pass> state_;
};

}  // namespace mishap
