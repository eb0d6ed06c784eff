#pragma once

#include <mishap/trainer/engine/loader.h>
#include <mishap/trainer/engine/loader_options.h>
#include <mishap/trainer/engine/sample_order.h>

namespace mishap {

/// Batches cut from tensors in memory: a view each, without workers.
///
///     return std::make_unique<TensorLoader>(
///         images, labels, LoaderOptions{.batch_size = 64, .shuffle = true});
///
/// Shuffling gathers the samples once a pass, which takes a copy of the data.
class TensorLoader final : public Loader {
 public:
  /// `target` may be undefined. Throws InputError when the tensors have not
  /// the same first dimension or when an option makes no sense.
  TensorLoader(torch::Tensor data, torch::Tensor target,
               const LoaderOptions& options);

  void start(std::int64_t pass) override;
  void start_at(std::int64_t pass, std::int64_t batches) override;
  State state() const override { return order_.state(); }
  void load_state(const State& state) override { order_.load_state(state); }
  std::optional<Batch> next() override;
  std::optional<std::int64_t> size() const override;

 private:
  torch::Tensor data_;
  torch::Tensor target_;
  std::int64_t samples_;
  std::int64_t batch_size_;
  bool drop_last_;
  SampleOrder order_;

  torch::Tensor pass_data_;
  torch::Tensor pass_target_;
  std::int64_t position_ = 0;
};

}  // namespace mishap
