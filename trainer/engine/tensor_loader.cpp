#include <mishap/trainer/engine/tensor_loader.h>
#include <mishap/trainer/guard/errors.h>

#include <algorithm>
#include <string>
#include <utility>

namespace mishap {
namespace {

std::int64_t samples_of(const torch::Tensor& data,
                        const torch::Tensor& target) {
  if (!data.defined() || data.dim() == 0) {
    throw InputError(
        "TensorLoader: data has no first dimension; give a tensor of samples");
  }
  if (target.defined() &&
      (target.dim() == 0 || target.size(0) != data.size(0))) {
    throw InputError("TensorLoader: data has " + std::to_string(data.size(0)) +
                     " samples, target has " +
                     (target.dim() == 0 ? std::string("none")
                                        : std::to_string(target.size(0))) +
                     "; give one target for each sample");
  }
  return data.size(0);
}

}  // namespace

TensorLoader::TensorLoader(torch::Tensor data, torch::Tensor target,
                           const LoaderOptions& options)
    : data_(std::move(data)),
      target_(std::move(target)),
      samples_(samples_of(data_, target_)),
      batch_size_(options.batch_size),
      drop_last_(options.drop_last),
      order_(options) {
  detail::check(options, "TensorLoader");
  if (options.workers != 0) {
    throw InputError(
        "TensorLoader: workers is " + std::to_string(options.workers) +
        ", but tensors in memory need none; give 0 or use make_loader");
  }
}

void TensorLoader::start(std::int64_t pass) {
  position_ = 0;
  if (!order_.shuffled()) {
    pass_data_ = data_;
    pass_target_ = target_;
    return;
  }
  const torch::Tensor indices = order_.indices(samples_, pass);
  pass_data_ = data_.index_select(0, indices.to(data_.device()));
  if (target_.defined()) {
    pass_target_ = target_.index_select(0, indices.to(target_.device()));
  }
}

void TensorLoader::start_at(std::int64_t pass, std::int64_t batches) {
  start(pass);
  position_ = std::min(batches * batch_size_, samples_);
}

std::optional<Batch> TensorLoader::next() {
  const std::int64_t count = std::min(batch_size_, samples_ - position_);
  if (count < (drop_last_ ? batch_size_ : 1)) {
    return std::nullopt;
  }
  Batch batch;
  batch.data = pass_data_.narrow(0, position_, count);
  if (pass_target_.defined()) {
    batch.target = pass_target_.narrow(0, position_, count);
  }
  position_ += count;
  return batch;
}

std::optional<std::int64_t> TensorLoader::size() const {
  return (samples_ + (drop_last_ ? 0 : batch_size_ - 1)) / batch_size_;
}

}  // namespace mishap
