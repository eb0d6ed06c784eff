#include <mishap/trainer/engine/data_module.h>

#include <utility>

namespace mishap {

Batch DataModule::transfer_batch_to_device(Batch batch,
                                           const torch::Device& device) {
  return to_device(std::move(batch), device);
}

Batch to_device(Batch batch, const torch::Device& device) {
  const auto move = [&](torch::Tensor& tensor) {
    if (tensor.defined() && tensor.device() != device) {
      tensor = tensor.to(device);
    }
  };
  move(batch.data);
  move(batch.target);
  for (auto& [name, tensor] : batch.extra) {
    move(tensor);
  }
  return batch;
}

}  // namespace mishap
