#include <mishap/trainer/engine/seed_everything.h>
#include <torch/torch.h>

#include <cstdlib>

namespace mishap {

void seed_everything(std::uint64_t seed) {
  torch::manual_seed(seed);
  std::srand(static_cast<unsigned>(seed));
}

}  // namespace mishap
