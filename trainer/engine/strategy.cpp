#include <mishap/trainer/engine/strategy.h>

namespace mishap {
namespace {

torch::Device device_of(const Module& module) {
  const std::vector<torch::Tensor> parameters = module.parameters();
  return parameters.empty() ? torch::Device(torch::kCPU)
                            : parameters.front().device();
}

}  // namespace

void SingleDevice::setup(Module& module, const torch::Device& device) {
  homes_.push_back(device_of(module));
  if (homes_.back() != device) {
    module.to(device);
  }
}

void SingleDevice::teardown(Module& module) {
  if (homes_.empty()) {
    return;
  }
  const torch::Device home = homes_.back();
  homes_.pop_back();
  if (device_of(module) != home) {
    module.to(home);
  }
}

}  // namespace mishap
