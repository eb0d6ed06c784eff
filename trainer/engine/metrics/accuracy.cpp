#include <mishap/trainer/engine/metrics/accuracy.h>
#include <mishap/trainer/engine/metrics/class_inputs.h>
#include <mishap/trainer/guard/errors.h>

#include <limits>
#include <string>
#include <vector>

namespace mishap {
namespace {

// Which samples have their target's score among the best. By comparison, since
// the order of equal scores in topk() is not defined.
torch::Tensor among_best(const torch::Tensor& scores,
                         const torch::Tensor& target, std::int64_t top_k) {
  const torch::Tensor own_class = target.unsqueeze(1);
  const torch::Tensor own = scores.gather(1, own_class);
  std::vector<std::int64_t> shape(static_cast<std::size_t>(scores.dim()), 1);
  shape[1] = scores.size(1);
  const torch::Tensor classes =
      torch::arange(scores.size(1), target.options()).reshape(shape);
  const torch::Tensor ahead =
      scores.gt(own) | (scores.eq(own) & classes.lt(own_class));
  return ahead.sum(1).lt(top_k) & ~scores.isnan().any(1);
}

}  // namespace

AccuracyImpl::AccuracyImpl(std::int64_t top_k)
    : top_k_(top_k),
      right_(register_buffer("right", torch::zeros({}, torch::kInt64))),
      total_(register_buffer("total", torch::zeros({}, torch::kInt64))) {
  if (top_k < 1) {
    throw InputError("Accuracy was made for a top_k of " +
                     std::to_string(top_k) + "; give 1 or more");
  }
}

void AccuracyImpl::update(const torch::Tensor& scores_or_classes,
                          const torch::Tensor& target) {
  const torch::NoGradGuard no_grad;
  const detail::ClassInputs inputs = detail::class_inputs(
      "Accuracy", scores_or_classes, target, std::nullopt, total_.device());
  if (top_k_ > 1 && !inputs.scores.defined()) {
    throw InputError("Accuracy was given classes for a top_k of " +
                     std::to_string(top_k_) + "; give scores");
  }
  if (inputs.scores.defined() && inputs.scores.size(1) < top_k_) {
    throw InputError("Accuracy was given scores of " +
                     std::to_string(inputs.scores.size(1)) +
                     " classes for a top_k of " + std::to_string(top_k_) +
                     "; give at least as many classes");
  }
  const torch::Tensor right =
      inputs.scores.defined() ? among_best(inputs.scores, inputs.target, top_k_)
                              : inputs.classes.eq(inputs.target);
  right_.add_(right.sum());
  total_.add_(inputs.target.numel());
}

double AccuracyImpl::compute() const {
  const auto total = total_.item<std::int64_t>();
  return total > 0 ? static_cast<double>(right_.item<std::int64_t>()) /
                         static_cast<double>(total)
                   : std::numeric_limits<double>::quiet_NaN();
}

void AccuracyImpl::reset() {
  const torch::NoGradGuard no_grad;
  right_.zero_();
  total_.zero_();
}

void AccuracyImpl::merge(const AccuracyImpl& other) {
  if (other.top_k_ != top_k_) {
    throw InputError("Accuracy of a top_k of " + std::to_string(top_k_) +
                     " was asked to merge one of " +
                     std::to_string(other.top_k_) + "; give it the same one");
  }
  const torch::NoGradGuard no_grad;
  right_.add_(other.right_.to(right_.device()));
  total_.add_(other.total_.to(total_.device()));
}

}  // namespace mishap
