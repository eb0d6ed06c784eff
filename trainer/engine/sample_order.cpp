#include <ATen/CPUGeneratorImpl.h>
#include <mishap/trainer/engine/sample_order.h>

#include <mutex>

namespace mishap {
namespace {

std::uint64_t draw_seed() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
}

// Spreads neighbouring passes over the whole range of seeds.
constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15ULL;

}  // namespace

SampleOrder::SampleOrder(const LoaderOptions& options)
    : shuffle_(options.shuffle) {
  if (shuffle_) {
    seed_ = options.seed ? *options.seed : draw_seed();
  }
}

State SampleOrder::state() const {
  State state;
  state.set("seed", static_cast<std::int64_t>(seed_));
  return state;
}

void SampleOrder::load_state(const State& state) {
  seed_ = static_cast<std::uint64_t>(state.integer("seed"));
}

torch::Tensor SampleOrder::indices(std::int64_t samples,
                                   std::int64_t pass) const {
  if (!shuffle_) {
    return torch::arange(samples, torch::kInt64);
  }
  const std::uint64_t seed =
      seed_ + kGoldenRatio * static_cast<std::uint64_t>(pass);
  return torch::randperm(samples, at::detail::createCPUGenerator(seed),
                         torch::kInt64);
}

}  // namespace mishap
