#include <c10/util/Exception.h>
#include <mishap/trainer/engine/device.h>
#include <mishap/trainer/guard/errors.h>

#include <string>

namespace mishap {
namespace {

constexpr const char* kChoices = "; give cpu, cuda, cuda:N or auto";

torch::Device parse(const std::string& text) {
  try {
    return torch::Device(text);
  } catch (const c10::Error&) {
    throw InputError("\"" + text + "\" is no device" + kChoices);
  }
}

}  // namespace

torch::Device device_from(std::string_view text) {
  const std::string name(text);
  if (name.empty()) {
    throw InputError(std::string("the device is an empty text") + kChoices);
  }
  if (name == "auto") {
    return torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0)
                                       : torch::Device(torch::kCPU);
  }
  torch::Device device = parse(name);
  if (device.is_cpu()) {
    return torch::Device(torch::kCPU);
  }
  if (!device.is_cuda()) {
    throw InputError("training on \"" + name + "\" is not supported" +
                     kChoices);
  }
  const std::size_t count = torch::cuda::device_count();
  if (count == 0) {
    throw InputError("device \"" + name +
                     "\" was asked for, but this LibTorch is built without "
                     "CUDA or sees no CUDA device; use cpu, or a LibTorch and "
                     "a machine with CUDA");
  }
  if (!device.has_index()) {
    return torch::Device(torch::kCUDA, 0);
  }
  if (static_cast<std::size_t>(device.index()) >= count) {
    throw InputError("device \"" + name + "\" was asked for, but there are " +
                     std::to_string(count) +
                     " CUDA devices, counted from 0; give one of them");
  }
  return device;
}

}  // namespace mishap
