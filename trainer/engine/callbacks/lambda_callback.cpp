#include <mishap/trainer/engine/callbacks/lambda_callback.h>

#include <utility>

namespace mishap {
namespace {

template <class Function, class... Arguments>
void call_if_set(const Function& function, Arguments&&... arguments) {
  if (function) {
    function(std::forward<Arguments>(arguments)...);
  }
}

}  // namespace

LambdaCallback::LambdaCallback(LambdaHooks hooks) : hooks_(std::move(hooks)) {}

void LambdaCallback::setup(Session& session) {
  call_if_set(hooks_.setup, session);
}

void LambdaCallback::teardown(Session& session) {
  call_if_set(hooks_.teardown, session);
}

void LambdaCallback::on_exception(const ErrorEvent& event) {
  call_if_set(hooks_.on_exception, event);
}

void LambdaCallback::on_save_checkpoint(Session& session, State& state) {
  call_if_set(hooks_.on_save_checkpoint, session, state);
}

void LambdaCallback::on_load_checkpoint(Session& session, const State& state) {
  call_if_set(hooks_.on_load_checkpoint, session, state);
}

void LambdaCallback::on_fit_start(Session& session) {
  call_if_set(hooks_.on_fit_start, session);
}

void LambdaCallback::on_fit_end(Session& session) {
  call_if_set(hooks_.on_fit_end, session);
}

void LambdaCallback::on_sanity_check_start(Session& session) {
  call_if_set(hooks_.on_sanity_check_start, session);
}

void LambdaCallback::on_sanity_check_end(Session& session) {
  call_if_set(hooks_.on_sanity_check_end, session);
}

void LambdaCallback::on_train_start(Session& session) {
  call_if_set(hooks_.on_train_start, session);
}

void LambdaCallback::on_train_end(Session& session) {
  call_if_set(hooks_.on_train_end, session);
}

void LambdaCallback::on_train_epoch_start(Session& session) {
  call_if_set(hooks_.on_train_epoch_start, session);
}

void LambdaCallback::on_train_epoch_end(Session& session) {
  call_if_set(hooks_.on_train_epoch_end, session);
}

void LambdaCallback::on_train_batch_start(Session& session, const Batch& batch,
                                          std::int64_t index) {
  call_if_set(hooks_.on_train_batch_start, session, batch, index);
}

void LambdaCallback::on_train_batch_end(Session& session,
                                        const torch::Tensor& loss,
                                        const Batch& batch,
                                        std::int64_t index) {
  call_if_set(hooks_.on_train_batch_end, session, loss, batch, index);
}

void LambdaCallback::on_before_zero_grad(Session& session,
                                         torch::optim::Optimizer& optimizer) {
  call_if_set(hooks_.on_before_zero_grad, session, optimizer);
}

void LambdaCallback::on_before_backward(Session& session,
                                        const torch::Tensor& loss) {
  call_if_set(hooks_.on_before_backward, session, loss);
}

void LambdaCallback::on_after_backward(Session& session) {
  call_if_set(hooks_.on_after_backward, session);
}

void LambdaCallback::on_before_optimizer_step(
    Session& session, torch::optim::Optimizer& optimizer) {
  call_if_set(hooks_.on_before_optimizer_step, session, optimizer);
}

void LambdaCallback::on_validation_start(Session& session) {
  call_if_set(hooks_.on_validation_start, session);
}

void LambdaCallback::on_validation_end(Session& session) {
  call_if_set(hooks_.on_validation_end, session);
}

void LambdaCallback::on_validation_epoch_start(Session& session) {
  call_if_set(hooks_.on_validation_epoch_start, session);
}

void LambdaCallback::on_validation_epoch_end(Session& session) {
  call_if_set(hooks_.on_validation_epoch_end, session);
}

void LambdaCallback::on_validation_batch_start(Session& session,
                                               const Batch& batch,
                                               std::int64_t index) {
  call_if_set(hooks_.on_validation_batch_start, session, batch, index);
}

void LambdaCallback::on_validation_batch_end(Session& session,
                                             const Batch& batch,
                                             std::int64_t index) {
  call_if_set(hooks_.on_validation_batch_end, session, batch, index);
}

void LambdaCallback::on_test_start(Session& session) {
  call_if_set(hooks_.on_test_start, session);
}

void LambdaCallback::on_test_end(Session& session) {
  call_if_set(hooks_.on_test_end, session);
}

void LambdaCallback::on_test_epoch_start(Session& session) {
  call_if_set(hooks_.on_test_epoch_start, session);
}

void LambdaCallback::on_test_epoch_end(Session& session) {
  call_if_set(hooks_.on_test_epoch_end, session);
}

void LambdaCallback::on_test_batch_start(Session& session, const Batch& batch,
                                         std::int64_t index) {
  call_if_set(hooks_.on_test_batch_start, session, batch, index);
}

void LambdaCallback::on_test_batch_end(Session& session, const Batch& batch,
                                       std::int64_t index) {
  call_if_set(hooks_.on_test_batch_end, session, batch, index);
}

void LambdaCallback::on_predict_start(Session& session) {
  call_if_set(hooks_.on_predict_start, session);
}

void LambdaCallback::on_predict_end(Session& session) {
  call_if_set(hooks_.on_predict_end, session);
}

void LambdaCallback::on_predict_epoch_start(Session& session) {
  call_if_set(hooks_.on_predict_epoch_start, session);
}

void LambdaCallback::on_predict_epoch_end(Session& session) {
  call_if_set(hooks_.on_predict_epoch_end, session);
}

void LambdaCallback::on_predict_batch_start(Session& session,
                                            const Batch& batch,
                                            std::int64_t index) {
  call_if_set(hooks_.on_predict_batch_start, session, batch, index);
}

void LambdaCallback::on_predict_batch_end(Session& session,
                                          const torch::Tensor& prediction,
                                          const Batch& batch,
                                          std::int64_t index) {
  call_if_set(hooks_.on_predict_batch_end, session, prediction, batch, index);
}

}  // namespace mishap
