#include <mishap/collector/sink.h>
#include <mishap/trainer/engine/session.h>
#include <mishap/trainer/harness/fault_store.h>
#include <mishap/trainer/harness/torch/torch_state.h>
#include <mishap/trainer/trainer.h>

#include <utility>

namespace mishap {
namespace {

void give_batch(BatchVisitor add, void* data) {
  const Session* session = Session::current();
  const Batch* batch = session == nullptr ? nullptr : session->batch();
  if (batch == nullptr) {
    return;
  }
  add("data", batch->data, data);
  if (batch->target.defined()) {
    add("target", batch->target, data);
  }
  for (const auto& [name, tensor] : batch->extra) {
    add(name.c_str(), tensor, data);
  }
}

int training_flag() {
  Session* session = Session::current();
  return session == nullptr ? -1 : session->module().is_training() ? 1 : 0;
}

// Each call of a save or a load is a fault point.
TrainerOptions with_fault_store(TrainerOptions options) {
  if (!options.store) {
    options.store = std::make_shared<FaultStore>("checkpoint");
  }
  return options;
}

}  // namespace

Trainer::Trainer(TrainerOptions options, HarnessOptions harness)
    : engine_(with_fault_store(std::move(options))),
      harness_(std::move(harness)) {
  watch_torch_state();
  set_batch_source(give_batch);
  set_training_flag_source(training_flag);
}

HarnessOptions Trainer::harness_of_a_call() const {
  HarnessOptions options = harness_;
  if (options.capture.records.empty() && Run::current() == nullptr) {
    options.capture.records =
        collector::records_folder(engine_.options().root_dir.string());
  }
  return options;
}

void Trainer::fit(Module& module, DataModule& data,
                  const std::filesystem::path& checkpoint) {
  run_with_harness(harness_of_a_call(), [&](const GuardOptions& guard) {
    engine_.fit(module, data, guard, checkpoint);
  });
}

Metrics Trainer::validate(Module& module, DataModule& data,
                          const std::filesystem::path& checkpoint) {
  Metrics metrics;
  run_with_harness(harness_of_a_call(), [&](const GuardOptions& guard) {
    metrics = engine_.validate(module, data, guard, checkpoint);
  });
  return metrics;
}

Metrics Trainer::test(Module& module, DataModule& data,
                      const std::filesystem::path& checkpoint) {
  Metrics metrics;
  run_with_harness(harness_of_a_call(), [&](const GuardOptions& guard) {
    metrics = engine_.test(module, data, guard, checkpoint);
  });
  return metrics;
}

std::vector<torch::Tensor> Trainer::predict(
    Module& module, DataModule& data, const std::filesystem::path& checkpoint) {
  std::vector<torch::Tensor> predictions;
  run_with_harness(harness_of_a_call(), [&](const GuardOptions& guard) {
    predictions = engine_.predict(module, data, guard, checkpoint);
  });
  return predictions;
}

}  // namespace mishap
