#include <ATen/CPUGeneratorImpl.h>
#include <mishap/trainer/engine/checkpoint.h>
#include <mishap/trainer/engine/detail/random_state.h>

#include <array>
#include <mutex>
#include <utility>

namespace mishap::detail {
namespace {

constexpr std::array<const char*, 2> kNames = {"cpu", "device"};

}  // namespace

RandomState RandomState::of(const torch::Device& device) {
  RandomState now;
  now.add(at::detail::getDefaultCPUGenerator());
  if (!device.is_cpu()) {
    now.add(at::globalContext().defaultGenerator(device));
  }
  return now;
}

void RandomState::add(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  torch::Tensor state = generator.get_state();
  saved_.push_back({std::move(generator), std::move(state)});
}

void RandomState::restore() const {
  for (const Saved& saved : saved_) {
    at::Generator generator = saved.generator;
    const std::lock_guard lock(generator.mutex());
    generator.set_state(saved.state);
  }
}

State RandomState::state() const {
  State state;
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    state.set(kNames.at(i), saved_[i].state);
  }
  return state;
}

void RandomState::load_state(const State& state) {
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    if (!state.has(kNames.at(i))) {
      continue;
    }
    torch::Tensor bytes = state.tensor(kNames.at(i));
    if (bytes.dtype() != torch::kUInt8 ||
        bytes.sizes() != saved_[i].state.sizes()) {
      throw CheckpointError(
          "the checkpoint's random numbers are of another LibTorch; go on with "
          "the one that saved it");
    }
    saved_[i].state = std::move(bytes);
  }
}

}  // namespace mishap::detail
