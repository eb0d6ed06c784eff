#pragma once

#include <mishap/trainer/engine/batch.h>
#include <mishap/trainer/engine/session.h>
#include <mishap/trainer/engine/state.h>
#include <mishap/trainer/guard/event.h>
#include <torch/torch.h>

#include <cstdint>
#include <string>

namespace mishap {

/// Code that takes part in runs without being the module: override what you
/// need. Names and order are PyTorch Lightning's.
///
/// An exception from any hook but on_exception and teardown fails the run and
/// reaches the caller as it is. `on_…_end` hooks belong to success: a failure
/// is announced by on_exception, the end of every run by teardown.
class Callback {
 public:
  virtual ~Callback() = default;

  /// Replaces the class in the component's name `callback.<Class>`. Letters,
  /// digits and _ . : # - only.
  virtual std::string name() const { return {}; }

  /// True for one that reads the metrics or saves what the others have done,
  /// like early stopping and checkpoints: its on_train_batch_end,
  /// on_train_epoch_end and on_validation_end run after the module's.
  virtual bool monitors() const { return false; }

  /// True for one that saves checkpoints: it comes after all other callbacks,
  /// so that what they have done is in the checkpoint. Such a one monitors.
  virtual bool saves() const { return false; }

  virtual void setup(Session&) {}
  /// Once for every setup that began, however the run ended.
  virtual void teardown(Session&) {}
  /// Once for every run that failed or was interrupted, before any cleanup.
  virtual void on_exception(const ErrorEvent&) {}

  /// Adds to a checkpoint what the callback needs to go on from there.
  virtual void on_save_checkpoint(Session&, State& /*state*/) {}
  /// Takes it back when a fit goes on from a checkpoint that has something of a
  /// callback of the same name.
  virtual void on_load_checkpoint(Session&, const State& /*state*/) {}

  virtual void on_fit_start(Session&) {}
  virtual void on_fit_end(Session&) {}
  virtual void on_sanity_check_start(Session&) {}
  virtual void on_sanity_check_end(Session&) {}

  virtual void on_train_start(Session&) {}
  virtual void on_train_end(Session&) {}
  virtual void on_train_epoch_start(Session&) {}
  virtual void on_train_epoch_end(Session&) {}
  virtual void on_train_batch_start(Session&, const Batch&,
                                    std::int64_t /*index*/) {}
  virtual void on_train_batch_end(Session&, const torch::Tensor& /*loss*/,
                                  const Batch&, std::int64_t /*index*/) {}
  virtual void on_before_zero_grad(Session&, torch::optim::Optimizer&) {}
  virtual void on_before_backward(Session&, const torch::Tensor& /*loss*/) {}
  virtual void on_after_backward(Session&) {}
  virtual void on_before_optimizer_step(Session&, torch::optim::Optimizer&) {}

  virtual void on_validation_start(Session&) {}
  virtual void on_validation_end(Session&) {}
  virtual void on_validation_epoch_start(Session&) {}
  virtual void on_validation_epoch_end(Session&) {}
  virtual void on_validation_batch_start(Session&, const Batch&,
                                         std::int64_t /*index*/) {}
  virtual void on_validation_batch_end(Session&, const Batch&,
                                       std::int64_t /*index*/) {}

  virtual void on_test_start(Session&) {}
  virtual void on_test_end(Session&) {}
  virtual void on_test_epoch_start(Session&) {}
  virtual void on_test_epoch_end(Session&) {}
  virtual void on_test_batch_start(Session&, const Batch&,
                                   std::int64_t /*index*/) {}
  virtual void on_test_batch_end(Session&, const Batch&,
                                 std::int64_t /*index*/) {}

  virtual void on_predict_start(Session&) {}
  virtual void on_predict_end(Session&) {}
  virtual void on_predict_epoch_start(Session&) {}
  virtual void on_predict_epoch_end(Session&) {}
  virtual void on_predict_batch_start(Session&, const Batch&,
                                      std::int64_t /*index*/) {}
  virtual void on_predict_batch_end(Session&,
                                    const torch::Tensor& /*prediction*/,
                                    const Batch&, std::int64_t /*index*/) {}
};

}  // namespace mishap
