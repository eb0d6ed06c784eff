#include <mishap/trainer/engine/batch.h>

namespace mishap {

std::int64_t Batch::size() const {
  for (const torch::Tensor* tensor : {&data, &target}) {
    if (tensor->defined() && tensor->dim() > 0) {
      return tensor->size(0);
    }
  }
  return 1;
}

}  // namespace mishap
