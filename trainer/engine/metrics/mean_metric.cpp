#include <c10/util/StringUtil.h>
#include <mishap/trainer/engine/metrics/mean_metric.h>
#include <mishap/trainer/guard/errors.h>

#include <cmath>
#include <limits>

namespace mishap {
namespace {

torch::Tensor real_numbers(const torch::Tensor& tensor, const char* what,
                           const torch::Device& device) {
  if (!tensor.defined() || tensor.is_complex()) {
    throw InputError(
        std::string("MeanMetric was given a ") + what +
        (tensor.defined() ? " of complex numbers" : " that is undefined") +
        "; give a tensor of real numbers");
  }
  return tensor.detach().to(device, torch::kFloat64);
}

[[noreturn]] void refuse_weight() {
  throw InputError(
      "MeanMetric was given a weight that is negative or not finite; give 0 "
      "or more");
}

}  // namespace

MeanMetricImpl::MeanMetricImpl()
    : sum_(register_buffer("sum", torch::zeros({}, torch::kFloat64))),
      weight_(register_buffer("weight", torch::zeros({}, torch::kFloat64))) {}

void MeanMetricImpl::update(const torch::Tensor& value,
                            const torch::Tensor& weight) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor values = real_numbers(value, "value", sum_.device());
  torch::Tensor weights = real_numbers(weight, "weight", sum_.device());
  if (weights.numel() == 1) {
    weights = weights.reshape({}).expand_as(values);
  }
  if (weights.sizes() != values.sizes()) {
    throw InputError(
        c10::str("MeanMetric was given a weight of shape ", weights.sizes(),
                 " for a value of shape ", values.sizes(),
                 "; give as many weights as values, or one for all"));
  }
  if (!(weights.ge(0) & weights.isfinite()).all().item<bool>()) {
    refuse_weight();
  }
  sum_.add_((values * weights).sum());
  weight_.add_(weights.sum());
}

void MeanMetricImpl::update(const torch::Tensor& value, double weight) {
  if (!(weight >= 0 && std::isfinite(weight))) {
    refuse_weight();
  }
  const torch::NoGradGuard no_grad;
  const torch::Tensor values = real_numbers(value, "value", sum_.device());
  sum_.add_(values.sum() * weight);
  weight_.add_(static_cast<double>(values.numel()) * weight);
}

void MeanMetricImpl::update(double value, double weight) {
  if (!(weight >= 0 && std::isfinite(weight))) {
    refuse_weight();
  }
  const torch::NoGradGuard no_grad;
  sum_.add_(value * weight);
  weight_.add_(weight);
}

double MeanMetricImpl::compute() const {
  const double weight = weight_.item<double>();
  return weight > 0 ? sum_.item<double>() / weight
                    : std::numeric_limits<double>::quiet_NaN();
}

void MeanMetricImpl::reset() {
  const torch::NoGradGuard no_grad;
  sum_.zero_();
  weight_.zero_();
}

void MeanMetricImpl::merge(const MeanMetricImpl& other) {
  const torch::NoGradGuard no_grad;
  sum_.add_(other.sum_.to(sum_.device()));
  weight_.add_(other.weight_.to(weight_.device()));
}

}  // namespace mishap
