#include <memory>

#include "bench.h"
#include "lean_training.h"

namespace mishap::bench {
namespace {

class QuietCallback final : public Callback {};

// Of the steps alone: a run's beginning and end are none of a step's.
class Stopwatch final : public Callback {
 public:
  void on_train_start(Session&) override {
    begin_ = std::chrono::steady_clock::now();
  }
  void on_train_end(Session&) override {
    seconds_ = std::chrono::steady_clock::now() - begin_;
  }
  double seconds() const { return seconds_.count(); }

 private:
  std::chrono::steady_clock::time_point begin_;
  std::chrono::duration<double> seconds_{0};
};

class QuietLogger final : public Logger {};

}  // namespace

std::vector<Row> trainer_rows(const std::string& folder) {
  constexpr std::int64_t kSteps = 500;
  constexpr int kRounds = 120;
  torch::set_num_threads(1);
  torch::manual_seed(1);
  LeanData data(kSteps);
  TrainerOptions options;
  options.max_epochs = 1;
  options.num_sanity_val_steps = 0;
  const auto stopwatch = std::make_shared<Stopwatch>();
  options.callbacks = {std::make_shared<QuietCallback>(), stopwatch};
  options.loggers = {std::make_shared<QuietLogger>()};
  HarnessOptions harness;
  harness.capture.records = folder;
  Trainer trainer(options, harness);
  const Difference seconds = median_difference(
      kRounds, [&] { return seconds_of([&] { train_by_hand(data); }); },
      [&] {
        Lean module;
        trainer.fit(module, data);
        return stopwatch->seconds();
      });
  const double bare = seconds.first * 1e6 / kSteps;
  return {{.name = "trainer_step",
           .figure = seconds.more * 1e6 / kSteps,
           .target = 2,
           .unit = "us",
           .note = "a step of the trainer over one of a hand-written loop",
           .yardstick = {"a bare training step", bare, kBareStepMicros}}};
}

}  // namespace mishap::bench
