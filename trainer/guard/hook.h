#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mishap {

// Every named moment at which code other than the trainer's runs, in the order
// of a run. Names follow PyTorch Lightning's.
// clang-format off
#define MISHAP_FOR_EACH_HOOK(X)                                       \
  X(ConfigureCallbacks, "configure_callbacks")                        \
  X(PrepareData, "prepare_data")                                      \
  X(Experiment, "experiment")                                         \
  X(Setup, "setup")                                                   \
  X(ConfigureModel, "configure_model")                                \
  X(ConfigureOptimizers, "configure_optimizers")                      \
  X(OnFitStart, "on_fit_start")                                       \
  X(LogHyperparams, "log_hyperparams")                                \
  X(OnSanityCheckStart, "on_sanity_check_start")                      \
  X(OnSanityCheckEnd, "on_sanity_check_end")                          \
  X(TrainDataloader, "train_dataloader")                              \
  X(ValDataloader, "val_dataloader")                                  \
  X(TestDataloader, "test_dataloader")                                \
  X(PredictDataloader, "predict_dataloader")                          \
  X(OnTrainStart, "on_train_start")                                   \
  X(OnTrainEpochStart, "on_train_epoch_start")                        \
  X(LoadBatch, "load_batch")                                          \
  X(OnBeforeBatchTransfer, "on_before_batch_transfer")                \
  X(TransferBatchToDevice, "transfer_batch_to_device")                \
  X(OnAfterBatchTransfer, "on_after_batch_transfer")                  \
  X(OnTrainBatchStart, "on_train_batch_start")                        \
  X(OptimizerStep, "optimizer_step")                                  \
  X(TrainingStep, "training_step")                                    \
  X(OnBeforeZeroGrad, "on_before_zero_grad")                          \
  X(OptimizerZeroGrad, "optimizer_zero_grad")                         \
  X(OnBeforeBackward, "on_before_backward")                           \
  X(Backward, "backward")                                             \
  X(OnAfterBackward, "on_after_backward")                             \
  X(OnBeforeOptimizerStep, "on_before_optimizer_step")                \
  X(ConfigureGradientClipping, "configure_gradient_clipping")         \
  X(LrSchedulerStep, "lr_scheduler_step")                             \
  X(OnTrainBatchEnd, "on_train_batch_end")                            \
  X(LogMetrics, "log_metrics")                                        \
  X(Save, "save")                                                     \
  X(OnValidationModelZeroGrad, "on_validation_model_zero_grad")       \
  X(OnValidationModelEval, "on_validation_model_eval")                \
  X(OnValidationStart, "on_validation_start")                         \
  X(OnValidationEpochStart, "on_validation_epoch_start")              \
  X(OnValidationBatchStart, "on_validation_batch_start")              \
  X(ValidationStep, "validation_step")                                \
  X(OnValidationBatchEnd, "on_validation_batch_end")                  \
  X(OnValidationEpochEnd, "on_validation_epoch_end")                  \
  X(OnValidationEnd, "on_validation_end")                             \
  X(OnValidationModelTrain, "on_validation_model_train")              \
  X(OnTrainEpochEnd, "on_train_epoch_end")                            \
  X(OnTrainEnd, "on_train_end")                                       \
  X(OnSaveCheckpoint, "on_save_checkpoint")                           \
  X(SaveCheckpoint, "save_checkpoint")                                \
  X(LoadCheckpoint, "load_checkpoint")                                \
  X(OnLoadCheckpoint, "on_load_checkpoint")                           \
  X(RestoreOptimizer, "restore_optimizer")                            \
  X(OnTestModelEval, "on_test_model_eval")                            \
  X(OnTestStart, "on_test_start")                                     \
  X(OnTestEpochStart, "on_test_epoch_start")                          \
  X(OnTestBatchStart, "on_test_batch_start")                          \
  X(TestStep, "test_step")                                            \
  X(OnTestBatchEnd, "on_test_batch_end")                              \
  X(OnTestEpochEnd, "on_test_epoch_end")                              \
  X(OnTestEnd, "on_test_end")                                         \
  X(OnTestModelTrain, "on_test_model_train")                          \
  X(OnPredictModelEval, "on_predict_model_eval")                      \
  X(OnPredictStart, "on_predict_start")                               \
  X(OnPredictEpochStart, "on_predict_epoch_start")                    \
  X(OnPredictBatchStart, "on_predict_batch_start")                    \
  X(PredictStep, "predict_step")                                      \
  X(OnPredictBatchEnd, "on_predict_batch_end")                        \
  X(OnPredictEpochEnd, "on_predict_epoch_end")                        \
  X(OnPredictEnd, "on_predict_end")                                   \
  X(OnPredictModelTrain, "on_predict_model_train")                    \
  X(OnFitEnd, "on_fit_end")                                           \
  X(Epoch, "epoch")                                                   \
  X(Step, "step")                                                     \
  X(OnException, "on_exception")                                      \
  X(Teardown, "teardown")                                             \
  X(Finalize, "finalize")                                             \
  X(None, "")
// clang-format on

enum class Hook : std::uint8_t {
#define MISHAP_HOOK_ENUMERATOR(name, text) k##name,
  MISHAP_FOR_EACH_HOOK(MISHAP_HOOK_ENUMERATOR)
#undef MISHAP_HOOK_ENUMERATOR
};

/// Number of hooks, Hook::kNone not counted.
inline constexpr std::size_t kHookCount = static_cast<std::size_t>(Hook::kNone);

/// The hook's name as it stands in records and fault points; "" for kNone.
std::string_view to_string(Hook hook) noexcept;

/// The hook of that name, or nothing.
std::optional<Hook> hook_from_string(std::string_view name) noexcept;

}  // namespace mishap
