#pragma once

#include <mishap/trainer/engine/batch.h>
#include <mishap/trainer/engine/session.h>
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

  /// True for one that reads the epoch's metrics, like early stopping: its
  /// on_train_epoch_end runs after the module's.
  virtual bool monitors() const { return false; }

  virtual void setup(Session&) {}
  /// Once for every setup that began, however the run ended.
  virtual void teardown(Session&) {}
  /// Once for every run that failed or was interrupted, before any cleanup.
  virtual void on_exception(const ErrorEvent&) {}

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
