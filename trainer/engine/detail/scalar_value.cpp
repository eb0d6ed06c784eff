#include <ATen/TensorSubclassLikeUtils.h>
#include <mishap/trainer/engine/detail/scalar_value.h>

namespace mishap::detail {
namespace {

// Nothing but its storage says what it is worth.
bool is_plain(const torch::Tensor& tensor) {
  return tensor.is_cpu() && tensor.layout() == torch::kStrided &&
         !tensor.is_neg() && !tensor._is_zerotensor() &&
         !at::isTensorSubclassLike(tensor) && tensor.numel() == 1;
}

}  // namespace

double scalar_value(const torch::Tensor& tensor) {
  if (tensor.scalar_type() == torch::kFloat && is_plain(tensor)) {
    return *tensor.data_ptr<float>();
  }
  if (tensor.scalar_type() == torch::kDouble && is_plain(tensor)) {
    return *tensor.data_ptr<double>();
  }
  return tensor.item<double>();
}

}  // namespace mishap::detail
