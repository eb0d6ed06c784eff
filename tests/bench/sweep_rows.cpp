#include <mishap/collector/torch/quiet_errors.h>
#include <mishap/faultinject/sweep/driver.h>
#include <mishap/trainer/harness/contract/contract_subject.h>
#include <mishap/trainer/testing/spied.h>
#include <mishap/trainer/testing/trainer_world.h>
#include <torch/torch.h>

#include <memory>
#include <stdexcept>

#include "bench.h"
#include "lean_training.h"

namespace mishap::bench {
namespace {

// The smallest world that has everything a sweep asks for: two epochs of two
// batches, one batch of each evaluation, two spies, one logger.
class TinyModule : public Lean {
 public:
  void validation_step(const Batch& batch, std::int64_t) override {
    log("loss", training_step(batch, 0));
  }
  void test_step(const Batch& batch, std::int64_t) override {
    log("loss", training_step(batch, 0));
  }
  torch::Tensor predict_step(const Batch& batch, std::int64_t) override {
    return training_step(batch, 0);
  }
};

class TinyData : public LeanData {
 public:
  TinyData() : LeanData(2) {}
  LoaderPtr val_dataloader() override { return first(1); }
  LoaderPtr test_dataloader() override { return first(1); }
  LoaderPtr predict_dataloader() override { return first(1); }
};

TaskParts tiny_world(Journal& journal) {
  torch::manual_seed(1);
  auto options = std::make_shared<TrainerOptions>();
  options->max_epochs = 2;
  options->num_sanity_val_steps = 1;
  options->log_every_n_steps = 1;
  return {std::make_shared<Spied<TinyModule>>(journal),
          std::make_shared<Spied<TinyData>>(journal), std::move(options)};
}

}  // namespace

std::vector<Row> sweep_rows(const std::string& folder) {
  collector::quiet_c10_errors();
  HarnessOptions harness;
  harness.capture.records = folder + "/sweep";
  harness.capture.report_on_stderr = false;
  ContractSubject subject(trainer_worlds(tiny_world), trainer_entry_points(),
                          harness);
  faultinject::sweep::Options options;
  options.actions = {"throw(runtime)", "interrupt(SIGINT)"};
  options.out = harness.capture.records;
  // The first names of a process are read from its debug information.
  options.budget = 20;
  run_sweep(subject, options);
  options.budget.reset();
  const double before = bare_step_micros();
  const faultinject::sweep::Summary summary = run_sweep(subject, options);
  if (summary.exit_status() != 0) {
    throw std::runtime_error("the sweep of the tiny world does not hold: " +
                             options.out.string());
  }
  const double step = (before + bare_step_micros()) / 2;
  return {{.name = "sweep_rate",
           .figure = summary.cases_per_second(),
           .target = 2000,
           .unit = "cases/s",
           .at_most = false,
           .note = "the tiny world in-process, one core, every checker on",
           .yardstick = {"a bare training step", step, kBareStepMicros}}};
}

}  // namespace mishap::bench
