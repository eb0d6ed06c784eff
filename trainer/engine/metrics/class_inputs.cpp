#include <c10/util/StringUtil.h>
#include <mishap/trainer/engine/metrics/class_inputs.h>
#include <mishap/trainer/guard/errors.h>

namespace mishap::detail {
namespace {

bool is_integral(const torch::Tensor& tensor) {
  return c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
}

// The sizes of a target for these scores.
std::vector<std::int64_t> without_classes(const torch::Tensor& scores) {
  std::vector<std::int64_t> sizes = scores.sizes().vec();
  sizes.erase(sizes.begin() + 1);
  return sizes;
}

void check_types(const std::string& metric, const torch::Tensor& given,
                 const torch::Tensor& target) {
  if (!given.defined() || !target.defined()) {
    throw InputError(metric +
                     " was given an undefined tensor; give scores or classes, "
                     "and a target");
  }
  if (!is_integral(target)) {
    throw InputError(
        c10::str(metric, " was given a target of type ", target.scalar_type(),
                 "; give numbers of classes, of an integral type"));
  }
  if (!is_integral(given) && !given.is_floating_point()) {
    throw InputError(c10::str(metric, " was given scores of type ",
                              given.scalar_type(),
                              "; give a floating type for scores, an integral "
                              "one for classes"));
  }
}

void check_shapes(const std::string& metric, const torch::Tensor& given,
                  const torch::Tensor& target) {
  const bool has_scores = given.is_floating_point();
  const bool fits =
      has_scores ? given.dim() >= 2 && target.sizes() == without_classes(given)
                 : target.sizes() == given.sizes();
  if (!fits) {
    throw InputError(c10::str(
        metric, " was given ", has_scores ? "scores" : "classes", " of shape ",
        given.sizes(), " for a target of shape ", target.sizes(),
        has_scores ? "; give scores of shape [N, classes, ...] for one of "
                     "shape [N, ...]"
                   : "; give as many classes as targets"));
  }
}

void check_range(const std::string& metric, const char* what,
                 const torch::Tensor& classes,
                 std::optional<std::int64_t> count) {
  if (classes.numel() == 0) {
    return;
  }
  const auto lowest = classes.min().item<std::int64_t>();
  const auto highest = classes.max().item<std::int64_t>();
  if (lowest < 0 || (count && highest >= *count)) {
    throw InputError(c10::str(metric, " was given ", what, " of class ",
                              lowest < 0 ? lowest : highest, "; there are ",
                              count
                                  ? c10::str(*count, " classes, counted from 0")
                                  : std::string("no classes below 0")));
  }
}

}  // namespace

ClassInputs class_inputs(const std::string& metric, const torch::Tensor& given,
                         const torch::Tensor& target,
                         std::optional<std::int64_t> count,
                         const torch::Device& device) {
  check_types(metric, given, target);
  check_shapes(metric, given, target);
  ClassInputs inputs;
  inputs.target = target.detach().to(device, torch::kInt64);
  if (given.is_floating_point()) {
    inputs.scores = given.detach().to(device);
    if (count && given.size(1) != *count) {
      throw InputError(c10::str(metric, " was given scores of ", given.size(1),
                                " classes; it was made for ", *count));
    }
    count = given.size(1);
  } else {
    inputs.classes = given.detach().to(device, torch::kInt64);
    check_range(metric, "a prediction", inputs.classes, count);
  }
  check_range(metric, "a target", inputs.target, count);
  return inputs;
}

}  // namespace mishap::detail
