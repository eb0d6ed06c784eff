#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/collector/torch/throw_sample.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <cstring>
#include <type_traits>

namespace mishap::collector {
namespace {

static_assert(sizeof(TorchThrowSample) <= ThrowSite::kSampleBytes);
static_assert(std::is_trivially_copyable_v<TorchThrowSample>);

void take_sample(std::span<std::byte, ThrowSite::kSampleBytes> out) noexcept {
  const TensorMemory memory = tensor_memory();
  TorchThrowSample sample;
  sample.live_bytes = memory.live_bytes;
  sample.peak_bytes = memory.peak_bytes;
  sample.live_blocks = memory.live_blocks;
  sample.taken = true;
  sample.grad_enabled = c10::GradMode::is_enabled();
  sample.inference_mode = c10::InferenceMode::is_enabled();
  sample.anomaly = torch::autograd::AnomalyMode::is_enabled();
  std::memcpy(out.data(), &sample, sizeof(sample));
}

}  // namespace

void install_torch_throw_sampler() noexcept { set_throw_sampler(take_sample); }

TorchThrowSample torch_throw_sample(const ThrowSite& site) noexcept {
  TorchThrowSample sample;
  std::memcpy(&sample, site.sample.data(), sizeof(sample));
  return sample;
}

}  // namespace mishap::collector
