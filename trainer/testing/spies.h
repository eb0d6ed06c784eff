#pragma once

#include <mishap/trainer/engine/callback.h>
#include <mishap/trainer/engine/logger.h>
#include <mishap/trainer/engine/strategy.h>
#include <mishap/trainer/guard/journal.h>

#include <string>
#include <utility>

namespace mishap {

/// A callback that writes every hook down. Its component is `callback.<name>`.
class SpyCallback : public Callback {
 public:
  SpyCallback(Journal& journal, std::string name);

  std::string name() const override { return name_; }
  Component component() const noexcept { return component_; }

  void on_exception(const ErrorEvent& event) override {
    journal_.note_exception(component_, event);
  }

#define MISHAP_SPY_HOOK(Name, hook) \
  void hook(Session&) override { note(Hook::k##Name); }
  MISHAP_SPY_HOOK(Setup, setup)
  MISHAP_SPY_HOOK(Teardown, teardown)
  MISHAP_SPY_HOOK(OnFitStart, on_fit_start)
  MISHAP_SPY_HOOK(OnFitEnd, on_fit_end)
  MISHAP_SPY_HOOK(OnSanityCheckStart, on_sanity_check_start)
  MISHAP_SPY_HOOK(OnSanityCheckEnd, on_sanity_check_end)
  MISHAP_SPY_HOOK(OnTrainStart, on_train_start)
  MISHAP_SPY_HOOK(OnTrainEnd, on_train_end)
  MISHAP_SPY_HOOK(OnTrainEpochStart, on_train_epoch_start)
  MISHAP_SPY_HOOK(OnTrainEpochEnd, on_train_epoch_end)
  MISHAP_SPY_HOOK(OnAfterBackward, on_after_backward)
  MISHAP_SPY_HOOK(OnValidationStart, on_validation_start)
  MISHAP_SPY_HOOK(OnValidationEnd, on_validation_end)
  MISHAP_SPY_HOOK(OnValidationEpochStart, on_validation_epoch_start)
  MISHAP_SPY_HOOK(OnValidationEpochEnd, on_validation_epoch_end)
  MISHAP_SPY_HOOK(OnTestStart, on_test_start)
  MISHAP_SPY_HOOK(OnTestEnd, on_test_end)
  MISHAP_SPY_HOOK(OnTestEpochStart, on_test_epoch_start)
  MISHAP_SPY_HOOK(OnTestEpochEnd, on_test_epoch_end)
  MISHAP_SPY_HOOK(OnPredictStart, on_predict_start)
  MISHAP_SPY_HOOK(OnPredictEnd, on_predict_end)
  MISHAP_SPY_HOOK(OnPredictEpochStart, on_predict_epoch_start)
  MISHAP_SPY_HOOK(OnPredictEpochEnd, on_predict_epoch_end)
#undef MISHAP_SPY_HOOK

  void on_save_checkpoint(Session&, State&) override {
    note(Hook::kOnSaveCheckpoint);
  }
  void on_load_checkpoint(Session&, const State&) override {
    note(Hook::kOnLoadCheckpoint);
  }

#define MISHAP_SPY_BATCH_HOOK(Name, hook)                    \
  void hook(Session&, const Batch&, std::int64_t) override { \
    note(Hook::k##Name);                                     \
  }
  MISHAP_SPY_BATCH_HOOK(OnTrainBatchStart, on_train_batch_start)
  MISHAP_SPY_BATCH_HOOK(OnValidationBatchStart, on_validation_batch_start)
  MISHAP_SPY_BATCH_HOOK(OnValidationBatchEnd, on_validation_batch_end)
  MISHAP_SPY_BATCH_HOOK(OnTestBatchStart, on_test_batch_start)
  MISHAP_SPY_BATCH_HOOK(OnTestBatchEnd, on_test_batch_end)
  MISHAP_SPY_BATCH_HOOK(OnPredictBatchStart, on_predict_batch_start)
#undef MISHAP_SPY_BATCH_HOOK

  void on_train_batch_end(Session&, const torch::Tensor&, const Batch&,
                          std::int64_t) override {
    note(Hook::kOnTrainBatchEnd);
  }
  void on_predict_batch_end(Session&, const torch::Tensor&, const Batch&,
                            std::int64_t) override {
    note(Hook::kOnPredictBatchEnd);
  }
  void on_before_zero_grad(Session&, torch::optim::Optimizer&) override {
    note(Hook::kOnBeforeZeroGrad);
  }
  void on_before_backward(Session&, const torch::Tensor&) override {
    note(Hook::kOnBeforeBackward);
  }
  void on_before_optimizer_step(Session&, torch::optim::Optimizer&) override {
    note(Hook::kOnBeforeOptimizerStep);
  }

 protected:
  virtual void note(Hook hook) { journal_.note(component_, hook); }
  Journal& journal() noexcept { return journal_; }

 private:
  Journal& journal_;
  std::string name_;
  Component component_;
};

/// A logger that writes down what it was told. Its component is
/// `logger.<name>`.
class SpyLogger final : public Logger {
 public:
  SpyLogger(Journal& journal, std::string name);

  std::string name() const override { return name_; }
  Component component() const noexcept { return component_; }

  void experiment() override { journal_.note(component_, Hook::kExperiment); }
  void log_hyperparams(const Hyperparameters&) override {
    journal_.note(component_, Hook::kLogHyperparams);
  }
  void log_metrics(const Metrics&, const Place&) override {
    journal_.note(component_, Hook::kLogMetrics);
  }
  void save() override { journal_.note(component_, Hook::kSave); }
  void finalize(FinalWord word) override {
    journal_.note_final(component_, word);
  }

 private:
  Journal& journal_;
  std::string name_;
  Component component_;
};

/// SingleDevice that writes down its set-up, its teardown and what it is told.
class SpyStrategy final : public SingleDevice {
 public:
  explicit SpyStrategy(Journal& journal);

  void setup(Module& module, const torch::Device& device) override {
    journal_.note(component_, Hook::kSetup);
    SingleDevice::setup(module, device);
  }
  void teardown(Module& module) override {
    journal_.note(component_, Hook::kTeardown);
    SingleDevice::teardown(module);
  }
  void on_exception(const ErrorEvent& event) override {
    journal_.note_exception(component_, event);
  }

 private:
  Journal& journal_;
  Component component_;
};

}  // namespace mishap
