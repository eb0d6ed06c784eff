#include <mishap/trainer/engine/metrics/class_inputs.h>
#include <mishap/trainer/engine/metrics/confusion_matrix.h>
#include <mishap/trainer/guard/errors.h>

#include <limits>
#include <string>

namespace mishap {
namespace {

std::int64_t checked_classes(std::int64_t classes) {
  if (classes < 1) {
    throw InputError("ConfusionMatrix was made for " + std::to_string(classes) +
                     " classes; give 1 or more");
  }
  return classes;
}

// In double also where the default type is another.
torch::Tensor share_of(const torch::Tensor& part, const torch::Tensor& all) {
  return part.to(torch::kFloat64) / all.to(torch::kFloat64);
}

}  // namespace

ConfusionMatrixImpl::ConfusionMatrixImpl(std::int64_t classes)
    : classes_(checked_classes(classes)),
      counts_(register_buffer(
          "counts", torch::zeros({classes, classes}, torch::kInt64))) {}

void ConfusionMatrixImpl::update(const torch::Tensor& scores_or_classes,
                                 const torch::Tensor& target) {
  const torch::NoGradGuard no_grad;
  const detail::ClassInputs inputs = detail::class_inputs(
      "ConfusionMatrix", scores_or_classes, target, classes_, counts_.device());
  if (inputs.target.numel() == 0) {
    return;
  }
  if (inputs.scores.defined() && inputs.scores.isnan().any().item<bool>()) {
    throw InputError(
        "ConfusionMatrix was given scores that are NaN, of which no class is "
        "the highest; leave those samples out");
  }
  const torch::Tensor taken_for =
      inputs.scores.defined() ? inputs.scores.argmax(1) : inputs.classes;
  const torch::Tensor cells = (inputs.target * classes_ + taken_for).flatten();
  // Unlike bincount() it may be used on every device when only deterministic
  // operators are allowed.
  counts_.view({-1}).scatter_add_(0, cells, torch::ones_like(cells));
}

torch::Tensor ConfusionMatrixImpl::recall() const {
  return share_of(counts_.diagonal(), counts_.sum(1));
}

torch::Tensor ConfusionMatrixImpl::precision() const {
  return share_of(counts_.diagonal(), counts_.sum(0));
}

torch::Tensor ConfusionMatrixImpl::f1() const {
  return share_of(counts_.diagonal() * 2, counts_.sum(0) + counts_.sum(1));
}

double ConfusionMatrixImpl::accuracy() const {
  return share_of(counts_.trace(), counts_.sum()).item<double>();
}

void ConfusionMatrixImpl::reset() {
  const torch::NoGradGuard no_grad;
  counts_.zero_();
}

void ConfusionMatrixImpl::merge(const ConfusionMatrixImpl& other) {
  if (other.classes_ != classes_) {
    throw InputError("ConfusionMatrix of " + std::to_string(classes_) +
                     " classes was asked to merge one of " +
                     std::to_string(other.classes_) +
                     "; give it the same classes");
  }
  const torch::NoGradGuard no_grad;
  counts_.add_(other.counts_.to(counts_.device()));
}

}  // namespace mishap
