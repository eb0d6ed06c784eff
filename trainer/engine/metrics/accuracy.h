#pragma once

#include <mishap/trainer/engine/metrics/metric_module.h>
#include <torch/torch.h>

#include <cstdint>

namespace mishap {

/// The share of samples whose class was told right.
class AccuracyImpl : public MetricModule {
 public:
  /// A sample is right when its class is among the `top_k` of highest score.
  /// Throws InputError for less than 1.
  explicit AccuracyImpl(std::int64_t top_k = 1);

  /// `scores_or_classes` is scores of a floating type and of shape
  /// [N, classes, ...], or, for a top_k of 1, classes of an integral type and
  /// of the shape of `target`: [N, ...], integral. Of equal scores the lower
  /// class comes first; a sample with a score that is NaN is wrong. Throws
  /// InputError for other shapes and types, for a class out of range, and for
  /// fewer classes than top_k; waits for an accelerator.
  void update(const torch::Tensor& scores_or_classes,
              const torch::Tensor& target);

  /// From 0 to 1; NaN when no sample was given.
  double compute() const;
  void reset();
  /// Adds what `other` counted: exactly as if this one had. Throws InputError
  /// when that has another top_k.
  void merge(const AccuracyImpl& other);

  std::int64_t top_k() const noexcept { return top_k_; }

 private:
  std::int64_t top_k_;
  torch::Tensor right_;
  torch::Tensor total_;
};
TORCH_MODULE(Accuracy);

}  // namespace mishap
