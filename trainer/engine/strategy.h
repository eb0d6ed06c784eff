#pragma once

#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/guard/event.h>
#include <torch/torch.h>

#include <vector>

namespace mishap {

/// How a run uses devices: where the module lives while it runs.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Moves the module to `device` and makes ready what training there needs.
  virtual void setup(Module& module, const torch::Device& device) = 0;
  /// Undoes setup. Once for every setup that began, however the run ended.
  virtual void teardown(Module& module) = 0;
  /// Once for every run that failed or was interrupted, before any cleanup.
  virtual void on_exception(const ErrorEvent&) {}

  virtual void on_train_start() {}
  virtual void on_train_end() {}
  virtual void on_train_batch_start(const Batch&, std::int64_t /*index*/) {}
  virtual void on_validation_start() {}
  virtual void on_validation_end() {}
  virtual void on_test_start() {}
  virtual void on_test_end() {}
  virtual void on_predict_start() {}
  virtual void on_predict_end() {}
};

/// One device. Afterwards the module is back where it was before.
class SingleDevice : public Strategy {
 public:
  void setup(Module& module, const torch::Device& device) override;
  void teardown(Module& module) override;

 private:
  // One for each setup without its teardown: calls may be nested.
  std::vector<torch::Device> homes_;
};

}  // namespace mishap
