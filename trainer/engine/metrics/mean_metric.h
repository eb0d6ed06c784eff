#pragma once

#include <mishap/trainer/engine/metrics/metric_module.h>
#include <torch/torch.h>

namespace mishap {

/// The weighted mean of what it was given.
///
///     MeanMetric mean;
///     mean->update(losses);                // each element counts once
///     mean->update(loss.item<double>(), batch.size());
///     log("loss", mean->compute());
class MeanMetricImpl : public MetricModule {
 public:
  MeanMetricImpl();

  /// Adds every element of `value`, of any shape and real type; an empty one
  /// adds nothing. `weight` has its shape, or one element for all. Throws
  /// InputError for another shape, for complex numbers, and for weights that
  /// are negative or not finite; reading weights waits for an accelerator.
  void update(const torch::Tensor& value, const torch::Tensor& weight);
  void update(const torch::Tensor& value, double weight = 1);
  void update(double value, double weight = 1);

  /// The mean; NaN when nothing of any weight was added, or a NaN was.
  double compute() const;
  void reset();
  /// Adds what `other` was given: the same as if this one had been, up to the
  /// rounding of sums in double precision.
  void merge(const MeanMetricImpl& other);

 private:
  torch::Tensor sum_;
  torch::Tensor weight_;
};
TORCH_MODULE(MeanMetric);

}  // namespace mishap
