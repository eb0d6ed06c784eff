#include <mishap/trainer/engine/detail/evaluation.h>

namespace mishap::detail {

const EvaluationKind kValidation{
    .stage = Stage::kValidate,
    .loader = Hook::kValDataloader,
    .model_eval = Hook::kOnValidationModelEval,
    .model_train = Hook::kOnValidationModelTrain,
    .start = Hook::kOnValidationStart,
    .end = Hook::kOnValidationEnd,
    .epoch_start = Hook::kOnValidationEpochStart,
    .epoch_end = Hook::kOnValidationEpochEnd,
    .batch_start = Hook::kOnValidationBatchStart,
    .step = Hook::kValidationStep,
    .batch_end = Hook::kOnValidationBatchEnd,
    .make_loaders = &DataModule::val_dataloaders,
    .callback_start = &Callback::on_validation_start,
    .callback_end = &Callback::on_validation_end,
    .callback_epoch_start = &Callback::on_validation_epoch_start,
    .callback_epoch_end = &Callback::on_validation_epoch_end,
    .callback_batch_start = &Callback::on_validation_batch_start,
    .callback_batch_end =
        [](Callback& callback, Session& session, const torch::Tensor&,
           const Batch& batch, std::int64_t index) {
          callback.on_validation_batch_end(session, batch, index);
        },
    .module_eval = &Module::on_validation_model_eval,
    .module_train = &Module::on_validation_model_train,
    .module_start = &Module::on_validation_start,
    .module_end = &Module::on_validation_end,
    .module_epoch_start = &Module::on_validation_epoch_start,
    .module_epoch_end = &Module::on_validation_epoch_end,
    .module_batch_start = &Module::on_validation_batch_start,
    .module_step =
        [](Module& module, const Batch& batch, std::int64_t index) {
          module.validation_step(batch, index);
          return torch::Tensor();
        },
    .module_batch_end =
        [](Module& module, const torch::Tensor&, const Batch& batch,
           std::int64_t index) {
          module.on_validation_batch_end(batch, index);
        },
    .strategy_start = &Strategy::on_validation_start,
    .strategy_end = &Strategy::on_validation_end,
};

const EvaluationKind kTesting{
    .stage = Stage::kTest,
    .loader = Hook::kTestDataloader,
    .model_eval = Hook::kOnTestModelEval,
    .model_train = Hook::kOnTestModelTrain,
    .start = Hook::kOnTestStart,
    .end = Hook::kOnTestEnd,
    .epoch_start = Hook::kOnTestEpochStart,
    .epoch_end = Hook::kOnTestEpochEnd,
    .batch_start = Hook::kOnTestBatchStart,
    .step = Hook::kTestStep,
    .batch_end = Hook::kOnTestBatchEnd,
    .make_loaders = &DataModule::test_dataloaders,
    .callback_start = &Callback::on_test_start,
    .callback_end = &Callback::on_test_end,
    .callback_epoch_start = &Callback::on_test_epoch_start,
    .callback_epoch_end = &Callback::on_test_epoch_end,
    .callback_batch_start = &Callback::on_test_batch_start,
    .callback_batch_end =
        [](Callback& callback, Session& session, const torch::Tensor&,
           const Batch& batch, std::int64_t index) {
          callback.on_test_batch_end(session, batch, index);
        },
    .module_eval = &Module::on_test_model_eval,
    .module_train = &Module::on_test_model_train,
    .module_start = &Module::on_test_start,
    .module_end = &Module::on_test_end,
    .module_epoch_start = &Module::on_test_epoch_start,
    .module_epoch_end = &Module::on_test_epoch_end,
    .module_batch_start = &Module::on_test_batch_start,
    .module_step =
        [](Module& module, const Batch& batch, std::int64_t index) {
          module.test_step(batch, index);
          return torch::Tensor();
        },
    .module_batch_end =
        [](Module& module, const torch::Tensor&, const Batch& batch,
           std::int64_t index) { module.on_test_batch_end(batch, index); },
    .strategy_start = &Strategy::on_test_start,
    .strategy_end = &Strategy::on_test_end,
};

const EvaluationKind kPrediction{
    .stage = Stage::kPredict,
    .loader = Hook::kPredictDataloader,
    .model_eval = Hook::kOnPredictModelEval,
    .model_train = Hook::kOnPredictModelTrain,
    .start = Hook::kOnPredictStart,
    .end = Hook::kOnPredictEnd,
    .epoch_start = Hook::kOnPredictEpochStart,
    .epoch_end = Hook::kOnPredictEpochEnd,
    .batch_start = Hook::kOnPredictBatchStart,
    .step = Hook::kPredictStep,
    .batch_end = Hook::kOnPredictBatchEnd,
    .make_loaders = &DataModule::predict_dataloaders,
    .callback_start = &Callback::on_predict_start,
    .callback_end = &Callback::on_predict_end,
    .callback_epoch_start = &Callback::on_predict_epoch_start,
    .callback_epoch_end = &Callback::on_predict_epoch_end,
    .callback_batch_start = &Callback::on_predict_batch_start,
    .callback_batch_end =
        [](Callback& callback, Session& session, const torch::Tensor& output,
           const Batch& batch, std::int64_t index) {
          callback.on_predict_batch_end(session, output, batch, index);
        },
    .module_eval = &Module::on_predict_model_eval,
    .module_train = &Module::on_predict_model_train,
    .module_start = &Module::on_predict_start,
    .module_end = &Module::on_predict_end,
    .module_epoch_start = &Module::on_predict_epoch_start,
    .module_epoch_end = &Module::on_predict_epoch_end,
    .module_batch_start = &Module::on_predict_batch_start,
    .module_step =
        [](Module& module, const Batch& batch, std::int64_t index) {
          return module.predict_step(batch, index);
        },
    .module_batch_end =
        [](Module& module, const torch::Tensor& output, const Batch& batch,
           std::int64_t index) {
          module.on_predict_batch_end(output, batch, index);
        },
    .strategy_start = &Strategy::on_predict_start,
    .strategy_end = &Strategy::on_predict_end,
};

}  // namespace mishap::detail
