#pragma once

#include <mishap/trainer/engine/callback.h>
#include <mishap/trainer/engine/data_module.h>
#include <mishap/trainer/engine/logger.h>
#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/engine/strategy.h>
#include <mishap/trainer/guard/journal.h>

#include <concepts>
#include <optional>
#include <string>
#include <utility>

namespace mishap {

/// Your module, but every hook first writes itself down: an ordinary component
/// whose journal a judge can read.
///
///     auto module = std::make_shared<mishap::Spied<Digits>>(journal, options);
template <class Base>
class Spied;

template <std::derived_from<Module> Base>
class Spied<Base> final : public Base {
 public:
  template <class... Arguments>
  explicit Spied(Journal& journal, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), journal_(journal) {}

  torch::Tensor training_step(const Batch& batch, std::int64_t i) override {
    note(Hook::kTrainingStep);
    return Base::training_step(batch, i);
  }
  void validation_step(const Batch& batch, std::int64_t i) override {
    note(Hook::kValidationStep);
    Base::validation_step(batch, i);
  }
  void test_step(const Batch& batch, std::int64_t i) override {
    note(Hook::kTestStep);
    Base::test_step(batch, i);
  }
  torch::Tensor predict_step(const Batch& batch, std::int64_t i) override {
    note(Hook::kPredictStep);
    return Base::predict_step(batch, i);
  }
  Optimizers configure_optimizers() override {
    note(Hook::kConfigureOptimizers);
    return Base::configure_optimizers();
  }
  std::vector<std::shared_ptr<Callback>> configure_callbacks() override {
    note(Hook::kConfigureCallbacks);
    return Base::configure_callbacks();
  }
  void setup(std::string_view entry_point) override {
    note(Hook::kSetup);
    Base::setup(entry_point);
  }
  void on_exception(const ErrorEvent& event) override {
    journal_.note_exception(self(), event);
    Base::on_exception(event);
  }

  void on_save_checkpoint(State& state) override {
    note(Hook::kOnSaveCheckpoint);
    Base::on_save_checkpoint(state);
  }
  void on_load_checkpoint(const State& state) override {
    note(Hook::kOnLoadCheckpoint);
    Base::on_load_checkpoint(state);
  }

#define MISHAP_SPIED_HOOK(Name, hook) \
  void hook() override {              \
    note(Hook::k##Name);              \
    Base::hook();                     \
  }
  MISHAP_SPIED_HOOK(PrepareData, prepare_data)
  MISHAP_SPIED_HOOK(ConfigureModel, configure_model)
  MISHAP_SPIED_HOOK(Teardown, teardown)
  MISHAP_SPIED_HOOK(OnFitStart, on_fit_start)
  MISHAP_SPIED_HOOK(OnFitEnd, on_fit_end)
  MISHAP_SPIED_HOOK(OnTrainStart, on_train_start)
  MISHAP_SPIED_HOOK(OnTrainEnd, on_train_end)
  MISHAP_SPIED_HOOK(OnTrainEpochStart, on_train_epoch_start)
  MISHAP_SPIED_HOOK(OnTrainEpochEnd, on_train_epoch_end)
  MISHAP_SPIED_HOOK(OnAfterBackward, on_after_backward)
  MISHAP_SPIED_HOOK(OnValidationModelZeroGrad, on_validation_model_zero_grad)
  MISHAP_SPIED_HOOK(OnValidationModelEval, on_validation_model_eval)
  MISHAP_SPIED_HOOK(OnValidationModelTrain, on_validation_model_train)
  MISHAP_SPIED_HOOK(OnValidationStart, on_validation_start)
  MISHAP_SPIED_HOOK(OnValidationEnd, on_validation_end)
  MISHAP_SPIED_HOOK(OnValidationEpochStart, on_validation_epoch_start)
  MISHAP_SPIED_HOOK(OnValidationEpochEnd, on_validation_epoch_end)
  MISHAP_SPIED_HOOK(OnTestModelEval, on_test_model_eval)
  MISHAP_SPIED_HOOK(OnTestModelTrain, on_test_model_train)
  MISHAP_SPIED_HOOK(OnTestStart, on_test_start)
  MISHAP_SPIED_HOOK(OnTestEnd, on_test_end)
  MISHAP_SPIED_HOOK(OnTestEpochStart, on_test_epoch_start)
  MISHAP_SPIED_HOOK(OnTestEpochEnd, on_test_epoch_end)
  MISHAP_SPIED_HOOK(OnPredictModelEval, on_predict_model_eval)
  MISHAP_SPIED_HOOK(OnPredictModelTrain, on_predict_model_train)
  MISHAP_SPIED_HOOK(OnPredictStart, on_predict_start)
  MISHAP_SPIED_HOOK(OnPredictEnd, on_predict_end)
  MISHAP_SPIED_HOOK(OnPredictEpochStart, on_predict_epoch_start)
  MISHAP_SPIED_HOOK(OnPredictEpochEnd, on_predict_epoch_end)
#undef MISHAP_SPIED_HOOK

 private:
  static Component self() {
    static const Component component = Component::named("module");
    return component;
  }
  void note(Hook hook) { journal_.note(self(), hook); }

  Journal& journal_;
};

template <std::derived_from<DataModule> Base>
class Spied<Base> final : public Base {
 public:
  template <class... Arguments>
  explicit Spied(Journal& journal, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), journal_(journal) {}

  void prepare_data() override {
    note(Hook::kPrepareData);
    Base::prepare_data();
  }
  void setup(std::string_view entry_point) override {
    note(Hook::kSetup);
    Base::setup(entry_point);
  }
  void teardown() override {
    note(Hook::kTeardown);
    Base::teardown();
  }
  void on_exception(const ErrorEvent& event) override {
    journal_.note_exception(self(), event);
    Base::on_exception(event);
  }
  void on_save_checkpoint(State& state) override {
    note(Hook::kOnSaveCheckpoint);
    Base::on_save_checkpoint(state);
  }
  void on_load_checkpoint(const State& state) override {
    note(Hook::kOnLoadCheckpoint);
    Base::on_load_checkpoint(state);
  }
  LoaderPtr train_dataloader() override {
    note(Hook::kTrainDataloader);
    return Base::train_dataloader();
  }
  LoaderPtr val_dataloader() override {
    note(Hook::kValDataloader);
    return Base::val_dataloader();
  }
  LoaderPtr test_dataloader() override {
    note(Hook::kTestDataloader);
    return Base::test_dataloader();
  }
  LoaderPtr predict_dataloader() override {
    note(Hook::kPredictDataloader);
    return Base::predict_dataloader();
  }

 private:
  static Component self() {
    static const Component component = Component::named("data");
    return component;
  }
  void note(Hook hook) { journal_.note(self(), hook); }

  Journal& journal_;
};

}  // namespace mishap
