#include "lean_training.h"

#include <optional>

#include "bench.h"

namespace mishap::bench {

void train_by_hand(LeanData& data) {
  torch::nn::Linear linear(32, 2);
  torch::optim::SGD optimizer(linear->parameters(), Lean::kRate);
  const LoaderPtr loader = data.train_dataloader();
  loader->start(0);
  while (std::optional<Batch> batch = loader->next()) {
    torch::Tensor loss = Lean::loss_of(linear, *batch);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

double bare_step_micros() {
  constexpr std::int64_t kSteps = 2'000;
  LeanData data(kSteps);
  return median(7, [&] { train_by_hand(data); }) * 1e6 / kSteps;
}

}  // namespace mishap::bench
