#include <memory>

#include "bench.h"
#include "lean_training.h"

namespace mishap::bench {
namespace {

class QuietCallback final : public Callback {};
class QuietLogger final : public Logger {};

}  // namespace

std::vector<Row> trainer_rows(const std::string& folder) {
  constexpr std::int64_t kSteps = 10'000;
  torch::set_num_threads(1);
  torch::manual_seed(1);
  LeanData data(kSteps);
  TrainerOptions options;
  options.max_epochs = 1;
  options.num_sanity_val_steps = 0;
  options.callbacks = {std::make_shared<QuietCallback>(),
                       std::make_shared<QuietCallback>()};
  options.loggers = {std::make_shared<QuietLogger>()};
  HarnessOptions harness;
  harness.capture.records = folder;
  Trainer trainer(options, harness);
  const Pair seconds = medians(
      9, [&] { train_by_hand(data); },
      [&] {
        Lean module;
        trainer.fit(module, data);
      });
  const double bare = seconds.first * 1e6 / kSteps;
  return {{.name = "trainer_step",
           .figure = (seconds.second - seconds.first) * 1e6 / kSteps,
           .target = 2,
           .unit = "us",
           .note = "a step of the trainer over one of a hand-written loop",
           .yardstick = {"a bare training step", bare, kBareStepMicros}}};
}

}  // namespace mishap::bench
