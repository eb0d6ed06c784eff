#pragma once

#include <mishap/trainer/engine/metrics/metric_module.h>
#include <torch/torch.h>

#include <cstdint>

namespace mishap {

/// How often each class was taken for each.
class ConfusionMatrixImpl : public MetricModule {
 public:
  /// Throws InputError for less than one class.
  explicit ConfusionMatrixImpl(std::int64_t classes);

  /// `scores_or_classes` is scores of a floating type and of shape
  /// [N, classes, ...], of which the highest counts, of equal ones the first;
  /// or classes of an integral type and of the shape of `target`: [N, ...],
  /// integral. Throws InputError for other shapes and types, for a class out of
  /// range, and for a score that is NaN, since then no class is the highest;
  /// waits for an accelerator.
  void update(const torch::Tensor& scores_or_classes,
              const torch::Tensor& target);

  /// A copy of the counts, [classes, classes] of int64: the rows are the
  /// targets, the columns what they were taken for. All 0 before any update.
  torch::Tensor matrix() const { return counts_.clone(); }
  /// The same as matrix().
  torch::Tensor compute() const { return matrix(); }

  // Per class, [classes] of double.

  /// The share of its samples that were found; NaN for a class without any.
  torch::Tensor recall() const;
  /// The share of what was taken for it that was; NaN where nothing was.
  torch::Tensor precision() const;
  /// The harmonic mean of both; NaN for a class that never occurs in either.
  torch::Tensor f1() const;

  /// The share of all samples that were told right; NaN without any.
  double accuracy() const;

  void reset();
  /// Adds what `other` counted: exactly as if this one had. Throws InputError
  /// when that has another number of classes.
  void merge(const ConfusionMatrixImpl& other);

  std::int64_t classes() const noexcept { return classes_; }

 private:
  std::int64_t classes_;
  torch::Tensor counts_;
};
TORCH_MODULE(ConfusionMatrix);

}  // namespace mishap
