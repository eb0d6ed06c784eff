#include <mishap/trainer/engine/data_module.h>

#include <utility>

namespace mishap {
namespace {

std::vector<LoaderPtr> only(LoaderPtr loader) {
  std::vector<LoaderPtr> loaders;
  if (loader != nullptr) {
    loaders.push_back(std::move(loader));
  }
  return loaders;
}

}  // namespace

std::vector<LoaderPtr> DataModule::val_dataloaders() {
  return only(val_dataloader());
}

std::vector<LoaderPtr> DataModule::test_dataloaders() {
  return only(test_dataloader());
}

std::vector<LoaderPtr> DataModule::predict_dataloaders() {
  return only(predict_dataloader());
}

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
