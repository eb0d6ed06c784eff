#include <mishap/trainer/engine/pass_sampler.h>

#include <algorithm>
#include <vector>

namespace mishap {

PassSampler::PassSampler(const LoaderOptions& options, std::int64_t samples)
    : state_(std::make_shared<Pass>(
          Pass{SampleOrder(options), samples, 0, 0, 0, {}})) {}

void PassSampler::reset(compat::SamplerSize new_size) {
  if (new_size) {
    state_->samples = static_cast<std::int64_t>(*new_size);
  }
  state_->position = std::min(state_->first, state_->samples);
  state_->indices = state_->order.indices(state_->samples, state_->pass);
}

compat::BatchIndices PassSampler::next(std::size_t batch_size) {
  const std::int64_t count = std::min(static_cast<std::int64_t>(batch_size),
                                      state_->samples - state_->position);
  if (count <= 0) {
    return {};
  }
  const std::int64_t* first =
      state_->indices.data_ptr<std::int64_t>() + state_->position;
  state_->position += count;
  return std::vector<std::size_t>(first, first + count);
}

void PassSampler::save(torch::serialize::OutputArchive& archive) const {
  archive.write("pass", torch::tensor(state_->pass, torch::kInt64),
                /*is_buffer=*/true);
}

void PassSampler::load(torch::serialize::InputArchive& archive) {
  torch::Tensor pass = torch::empty({}, torch::kInt64);
  archive.read("pass", pass, /*is_buffer=*/true);
  state_->pass = pass.item<std::int64_t>();
}

}  // namespace mishap
