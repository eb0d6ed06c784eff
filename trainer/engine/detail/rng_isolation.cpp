#include <ATen/CPUGeneratorImpl.h>
#include <mishap/trainer/engine/detail/rng_isolation.h>

#include <mutex>
#include <utility>

namespace mishap::detail {

RngIsolation::RngIsolation(const torch::Device& device) {
  save(at::detail::getDefaultCPUGenerator());
  if (!device.is_cpu()) {
    save(at::globalContext().defaultGenerator(device));
  }
}

RngIsolation::~RngIsolation() {
  for (Saved& saved : saved_) {
    const std::lock_guard lock(saved.generator.mutex());
    saved.generator.set_state(saved.state);
  }
}

void RngIsolation::save(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  torch::Tensor state = generator.get_state();
  saved_.push_back({generator, std::move(state)});
}

}  // namespace mishap::detail
