#pragma once

#include <mishap/trainer/engine/callback.h>

#include <cstdint>
#include <functional>
#include <string>

namespace mishap {

/// What a LambdaCallback does at each hook; nothing where a function is unset.
struct LambdaHooks {
  using OfSession = std::function<void(Session&)>;
  using OfBatch =
      std::function<void(Session&, const Batch&, std::int64_t index)>;
  using OfOutput = std::function<void(Session&, const torch::Tensor& output,
                                      const Batch&, std::int64_t index)>;
  using OfLoss = std::function<void(Session&, const torch::Tensor& loss)>;
  using OfOptimizer = std::function<void(Session&, torch::optim::Optimizer&)>;

  /// As Callback::name(): letters, digits and _ . : # - only.
  std::string name = {};
  /// As Callback::monitors().
  bool monitors = false;

  OfSession setup = {};
  OfSession teardown = {};
  std::function<void(const ErrorEvent&)> on_exception = {};
  std::function<void(Session&, State&)> on_save_checkpoint = {};
  std::function<void(Session&, const State&)> on_load_checkpoint = {};

  OfSession on_fit_start = {};
  OfSession on_fit_end = {};
  OfSession on_sanity_check_start = {};
  OfSession on_sanity_check_end = {};

  OfSession on_train_start = {};
  OfSession on_train_end = {};
  OfSession on_train_epoch_start = {};
  OfSession on_train_epoch_end = {};
  OfBatch on_train_batch_start = {};
  OfOutput on_train_batch_end = {};
  OfOptimizer on_before_zero_grad = {};
  OfLoss on_before_backward = {};
  OfSession on_after_backward = {};
  OfOptimizer on_before_optimizer_step = {};

  OfSession on_validation_start = {};
  OfSession on_validation_end = {};
  OfSession on_validation_epoch_start = {};
  OfSession on_validation_epoch_end = {};
  OfBatch on_validation_batch_start = {};
  OfBatch on_validation_batch_end = {};

  OfSession on_test_start = {};
  OfSession on_test_end = {};
  OfSession on_test_epoch_start = {};
  OfSession on_test_epoch_end = {};
  OfBatch on_test_batch_start = {};
  OfBatch on_test_batch_end = {};

  OfSession on_predict_start = {};
  OfSession on_predict_end = {};
  OfSession on_predict_epoch_start = {};
  OfSession on_predict_epoch_end = {};
  OfBatch on_predict_batch_start = {};
  OfOutput on_predict_batch_end = {};
};

/// A callback of functions, for a few lines that need no class:
///
///     options.callbacks.push_back(std::make_shared<mishap::LambdaCallback>(
///         mishap::LambdaHooks{.on_train_epoch_end = [](auto& session) {
///           std::cout << session.place().epoch << '\n';
///         }}));
class LambdaCallback final : public Callback {
 public:
  explicit LambdaCallback(LambdaHooks hooks);

  std::string name() const override { return hooks_.name; }
  bool monitors() const override { return hooks_.monitors; }

  void setup(Session& session) override;
  void teardown(Session& session) override;
  void on_exception(const ErrorEvent& event) override;
  void on_save_checkpoint(Session& session, State& state) override;
  void on_load_checkpoint(Session& session, const State& state) override;

  void on_fit_start(Session& session) override;
  void on_fit_end(Session& session) override;
  void on_sanity_check_start(Session& session) override;
  void on_sanity_check_end(Session& session) override;

  void on_train_start(Session& session) override;
  void on_train_end(Session& session) override;
  void on_train_epoch_start(Session& session) override;
  void on_train_epoch_end(Session& session) override;
  void on_train_batch_start(Session& session, const Batch& batch,
                            std::int64_t index) override;
  void on_train_batch_end(Session& session, const torch::Tensor& loss,
                          const Batch& batch, std::int64_t index) override;
  void on_before_zero_grad(Session& session,
                           torch::optim::Optimizer& optimizer) override;
  void on_before_backward(Session& session, const torch::Tensor& loss) override;
  void on_after_backward(Session& session) override;
  void on_before_optimizer_step(Session& session,
                                torch::optim::Optimizer& optimizer) override;

  void on_validation_start(Session& session) override;
  void on_validation_end(Session& session) override;
  void on_validation_epoch_start(Session& session) override;
  void on_validation_epoch_end(Session& session) override;
  void on_validation_batch_start(Session& session, const Batch& batch,
                                 std::int64_t index) override;
  void on_validation_batch_end(Session& session, const Batch& batch,
                               std::int64_t index) override;

  void on_test_start(Session& session) override;
  void on_test_end(Session& session) override;
  void on_test_epoch_start(Session& session) override;
  void on_test_epoch_end(Session& session) override;
  void on_test_batch_start(Session& session, const Batch& batch,
                           std::int64_t index) override;
  void on_test_batch_end(Session& session, const Batch& batch,
                         std::int64_t index) override;

  void on_predict_start(Session& session) override;
  void on_predict_end(Session& session) override;
  void on_predict_epoch_start(Session& session) override;
  void on_predict_epoch_end(Session& session) override;
  void on_predict_batch_start(Session& session, const Batch& batch,
                              std::int64_t index) override;
  void on_predict_batch_end(Session& session, const torch::Tensor& prediction,
                            const Batch& batch, std::int64_t index) override;

 private:
  LambdaHooks hooks_;
};

}  // namespace mishap
