#pragma once

#include <mishap/trainer/engine/batch.h>
#include <mishap/trainer/engine/callback.h>
#include <mishap/trainer/engine/optimizers.h>
#include <mishap/trainer/engine/session.h>
#include <mishap/trainer/guard/event.h>
#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace mishap {

/// A torch::nn::Module that says how it is trained: override the steps, the
/// optimizer and whatever hooks you need. Names and order are PyTorch
/// Lightning's.
///
///     struct Digits : mishap::Module {
///       torch::nn::Linear out =
///           register_module("out", torch::nn::Linear(64, 10));
///
///       torch::Tensor training_step(const mishap::Batch& batch,
///                                   std::int64_t) override {
///         auto loss =
///             torch::cross_entropy_loss(out(batch.data), batch.target);
///         log("loss", loss);
///         return loss;
///       }
///       mishap::Optimizers configure_optimizers() override {
///         return torch::optim::Adam(parameters(), 1e-3);
///       }
///     };
///
/// It may live on the stack: no shared_ptr is needed.
class Module : public torch::nn::Module {
 public:
  using torch::nn::Module::Module;

  /// Computes the loss and whatever else an update needs.
  using Closure = std::function<torch::Tensor()>;

  // -- the steps ------------------------------------------------------------

  /// The loss of a batch: a scalar with a gradient. Under manual optimisation
  /// whatever it returns, nothing too, is only shown to on_train_batch_end.
  virtual torch::Tensor training_step(const Batch& batch, std::int64_t index);
  virtual void validation_step(const Batch& batch, std::int64_t index);
  virtual void test_step(const Batch& batch, std::int64_t index);
  /// What predict() returns for a batch; moved to the CPU.
  virtual torch::Tensor predict_step(const Batch& batch, std::int64_t index);

  // -- optimisation by hand -------------------------------------------------

  /// False: training_step() calls manual_backward(), manual_step() and
  /// manual_zero_grad() itself, with as many optimizers as it likes.
  virtual bool automatic_optimization() const { return true; }

  // -- before and after -----------------------------------------------------

  /// Called after the module is on its device. Fit needs one optimizer; more
  /// than one only under manual optimisation.
  virtual Optimizers configure_optimizers() { return {}; }
  /// Callbacks that take part in this call, after the trainer's.
  virtual std::vector<std::shared_ptr<Callback>> configure_callbacks() {
    return {};
  }
  virtual void prepare_data() {}
  /// `entry_point` is fit, validate, test or predict.
  virtual void setup(std::string_view /*entry_point*/) {}
  /// Makes submodules whose size is known only now.
  virtual void configure_model() {}
  /// Once for every setup or prepare_data that began, however the run ended.
  virtual void teardown() {}
  /// Once for every run that failed or was interrupted, before any cleanup.
  virtual void on_exception(const ErrorEvent&) {}

  // -- fit ------------------------------------------------------------------

  virtual void on_fit_start() {}
  virtual void on_fit_end() {}
  virtual void on_train_start() {}
  virtual void on_train_end() {}
  virtual void on_train_epoch_start() {}
  virtual void on_train_epoch_end() {}
  virtual void on_train_batch_start(const Batch&, std::int64_t /*index*/) {}
  virtual void on_train_batch_end(const torch::Tensor& /*loss*/, const Batch&,
                                  std::int64_t /*index*/) {}
  virtual void on_before_zero_grad(torch::optim::Optimizer&) {}
  virtual void optimizer_zero_grad(torch::optim::Optimizer& optimizer);
  virtual void on_before_backward(const torch::Tensor& /*loss*/) {}
  virtual void backward(const torch::Tensor& loss);
  virtual void on_after_backward() {}
  virtual void on_before_optimizer_step(torch::optim::Optimizer&) {}
  /// `max_norm` is TrainerOptions::gradient_clip_norm; clips when it is set.
  virtual void configure_gradient_clipping(torch::optim::Optimizer& optimizer,
                                           std::optional<double> max_norm);
  /// Must call `closure`, which runs everything from training_step to gradient
  /// clipping, and update the parameters.
  virtual void optimizer_step(torch::optim::Optimizer& optimizer,
                              const Closure& closure);
  virtual void lr_scheduler_step(torch::optim::LRScheduler& scheduler);
  /// `metric` is the newest value of the one that it monitors.
  virtual void plateau_scheduler_step(ReduceOnPlateau& scheduler,
                                      double metric) {
    scheduler.step(metric);
  }

  // -- checkpoints ----------------------------------------------------------

  /// Adds to a checkpoint what the module holds beside parameters and buffers.
  virtual void on_save_checkpoint(State& /*state*/) {}
  /// Takes it back, before the parameters and buffers are.
  virtual void on_load_checkpoint(const State& /*state*/) {}

  // -- validate, also inside fit --------------------------------------------

  /// Drops the gradients of the step before. Only inside fit.
  virtual void on_validation_model_zero_grad();
  /// Puts the module into evaluation mode.
  virtual void on_validation_model_eval() { eval(); }
  /// The training flag of each submodule is what it was before validation.
  virtual void on_validation_model_train() {}
  virtual void on_validation_start() {}
  virtual void on_validation_end() {}
  virtual void on_validation_epoch_start() {}
  virtual void on_validation_epoch_end() {}
  virtual void on_validation_batch_start(const Batch&, std::int64_t /*index*/) {
  }
  virtual void on_validation_batch_end(const Batch&, std::int64_t /*index*/) {}

  // -- test -----------------------------------------------------------------

  virtual void on_test_model_eval() { eval(); }
  virtual void on_test_model_train() {}
  virtual void on_test_start() {}
  virtual void on_test_end() {}
  virtual void on_test_epoch_start() {}
  virtual void on_test_epoch_end() {}
  virtual void on_test_batch_start(const Batch&, std::int64_t /*index*/) {}
  virtual void on_test_batch_end(const Batch&, std::int64_t /*index*/) {}

  // -- predict --------------------------------------------------------------

  virtual void on_predict_model_eval() { eval(); }
  virtual void on_predict_model_train() {}
  virtual void on_predict_start() {}
  virtual void on_predict_end() {}
  virtual void on_predict_epoch_start() {}
  virtual void on_predict_epoch_end() {}
  virtual void on_predict_batch_start(const Batch&, std::int64_t /*index*/) {}
  virtual void on_predict_batch_end(const torch::Tensor& /*prediction*/,
                                    const Batch&, std::int64_t /*index*/) {}

  // -- moving a batch; the data module's are used if it has its own ----------

  virtual Batch on_before_batch_transfer(Batch batch) { return batch; }
  virtual Batch transfer_batch_to_device(Batch batch,
                                         const torch::Device& device);
  virtual Batch on_after_batch_transfer(Batch batch) { return batch; }

 protected:
  /// Logs a value of this step or epoch; its mean over the epoch goes to the
  /// loggers and, from validate and test, to the caller. Throws InputError
  /// outside an epoch.
  void log(std::string_view name, double value, const LogOptions& how = {});
  /// As above for a tensor of one element, which is detached.
  void log(std::string_view name, const torch::Tensor& value,
           const LogOptions& how = {});

  /// One of the optimizers of this fit, in the order of configure_optimizers.
  torch::optim::Optimizer& optimizer(std::size_t index = 0);

  // Only under manual optimisation and inside training_step; else InputError.

  /// The backward pass with its hooks.
  void manual_backward(const torch::Tensor& loss);
  /// One update with its hooks; counts as a step of the fit.
  void manual_step(std::size_t index = 0);
  /// Sets the gradients of that optimizer's parameters to zero.
  void manual_zero_grad(std::size_t index = 0);

  /// The call that this module takes part in. Throws InputError outside one.
  Session& session();
};

}  // namespace mishap
