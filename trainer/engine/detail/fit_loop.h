#pragma once

#include <mishap/trainer/engine/detail/call.h>
#include <mishap/trainer/engine/detail/train_step.h>
#include <mishap/trainer/engine/metric_store.h>

namespace mishap::detail {

/// What fit does between setup and teardown.
class FitLoop {
 public:
  FitLoop(Call& call, Optimizers& optimizers);

  void run();

 private:
  bool trains() const;
  bool validates() const;
  LoaderInUse& val_loader();

  void check_sanity();
  void train();
  void train_epoch(LoaderInUse& loader);
  void train_batches(LoaderInUse& loader);
  void validate();
  void end_epoch();
  bool done() const;

  Call& call_;
  Optimizers& optimizers_;
  TrainStep step_;
  MetricStore store_;
  LoaderInUse* val_loader_ = nullptr;
  std::int64_t epoch_ = 0;
};

}  // namespace mishap::detail
