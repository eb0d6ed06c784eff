#include <mishap/trainer/engine/detail/collecting.h>
#include <mishap/trainer/engine/detail/evaluation.h>
#include <mishap/trainer/engine/detail/fit_loop.h>
#include <mishap/trainer/engine/detail/rng_isolation.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <algorithm>

namespace mishap::detail {

FitLoop::FitLoop(Call& call, Optimizers& optimizers)
    : call_(call), optimizers_(optimizers), step_(call, optimizers) {}

void FitLoop::run() {
  call_.notify(Hook::kOnFitStart, &Callback::on_fit_start,
               &Module::on_fit_start);
  call_.log_hyperparams();
  call_.save_loggers();
  check_sanity();
  call_.run().set_stage(Stage::kTrain);
  if (trains()) {
    train();
  }
  call_.notify(Hook::kOnFitEnd, &Callback::on_fit_end, &Module::on_fit_end);
}

bool FitLoop::trains() const {
  const TrainerOptions& options = call_.options();
  return options.max_epochs > 0 && options.max_steps != 0 &&
         options.limit_train_batches != 0;
}

bool FitLoop::validates() const {
  return call_.options().limit_val_batches != 0;
}

LoaderInUse& FitLoop::val_loader() {
  if (val_loader_ == nullptr) {
    val_loader_ =
        &call_.make_loader(Hook::kValDataloader, &DataModule::val_dataloader,
                           Call::Loaders::kOptional);
  }
  return *val_loader_;
}

void FitLoop::check_sanity() {
  const TrainerOptions& options = call_.options();
  if (!validates() || options.num_sanity_val_steps == 0) {
    return;
  }
  call_.run().set_stage(Stage::kSanityCheck);
  const RngIsolation isolation(call_.device());
  LoaderInUse& loader = val_loader();
  if (!loader) {
    return;
  }
  call_.notify_callbacks(Hook::kOnSanityCheckStart,
                         &Callback::on_sanity_check_start);
  EvaluationUse use;
  use.limit = std::min(
      options.num_sanity_val_steps,
      options.limit_val_batches.value_or(options.num_sanity_val_steps));
  use.inside_fit = true;
  use.sanity_check = true;
  evaluate(call_, kValidation, loader, use);
  call_.notify_callbacks(Hook::kOnSanityCheckEnd,
                         &Callback::on_sanity_check_end);
}

void FitLoop::train() {
  std::optional<torch::autograd::DetectAnomalyGuard> anomaly;
  if (call_.options().detect_anomaly) {
    anomaly.emplace();
  }
  const torch::AutoGradMode grad(true);
  LoaderInUse& loader =
      call_.make_loader(Hook::kTrainDataloader, &DataModule::train_dataloader,
                        Call::Loaders::kRequired);
  if (validates()) {
    val_loader();
  }
  call_.notify(Hook::kOnTrainStart, &Callback::on_train_start,
               &Module::on_train_start);
  call_.notify_strategy(Hook::kOnTrainStart, &Strategy::on_train_start);
  for (epoch_ = 0; !done(); ++epoch_) {
    train_epoch(loader);
  }
  call_.notify(Hook::kOnTrainEnd, &Callback::on_train_end,
               &Module::on_train_end);
  call_.notify_strategy(Hook::kOnTrainEnd, &Strategy::on_train_end);
}

bool FitLoop::done() const {
  const TrainerOptions& options = call_.options();
  return epoch_ >= options.max_epochs || call_.session().stopping() ||
         (options.max_steps && step_.steps() >= *options.max_steps);
}

void FitLoop::train_epoch(LoaderInUse& loader) {
  call_.run().set_epoch(epoch_);
  store_.clear();
  const Collecting collecting(call_.session(), store_);
  call_.notify(Hook::kOnTrainEpochStart, &Callback::on_train_epoch_start,
               &Module::on_train_epoch_start);
  train_batches(loader);
  if (validates() && val_loader() &&
      (epoch_ + 1) % call_.options().check_val_every_n_epoch == 0) {
    validate();
  }
  end_epoch();
}

void FitLoop::train_batches(LoaderInUse& loader) {
  Run& run = call_.run();
  const std::optional<std::int64_t> limit = call_.options().limit_train_batches;
  for (std::int64_t index = 0; (!limit || index < *limit) && !done(); ++index) {
    run.set_batch(index);
    const Batch* const batch = call_.load(loader, index);
    if (batch == nullptr) {
      break;
    }
    step_.run(*batch, index);
  }
  call_.session().drop_batch();
  run.set_batch(-1);
}

void FitLoop::validate() {
  call_.run().set_stage(Stage::kValidate);
  EvaluationUse use;
  use.limit = call_.options().limit_val_batches;
  use.inside_fit = true;
  evaluate(call_, kValidation, val_loader(), use);
  call_.run().set_stage(Stage::kTrain);
}

void FitLoop::end_epoch() {
  const auto end = [&](bool monitors) {
    for (const CallbackSeat& seat : call_.callbacks()) {
      if (seat.monitors == monitors) {
        call_.notify_callback(Hook::kOnTrainEpochEnd, seat,
                              &Callback::on_train_epoch_end);
      }
    }
  };
  end(/*monitors=*/false);
  call_.notify_module(Hook::kOnTrainEpochEnd, &Module::on_train_epoch_end);
  call_.session().publish(store_.means());
  end(/*monitors=*/true);

  torch::optim::LRScheduler* const scheduler = optimizers_.scheduler();
  if (scheduler != nullptr &&
      optimizers_.every() == Optimizers::Every::kEpoch) {
    call_.notify_module(Hook::kLrSchedulerStep, &Module::lr_scheduler_step,
                        *scheduler);
  }
  const Metrics means = store_.means();
  call_.session().publish(means);
  call_.log_metrics(means);
  if (!means.empty()) {
    call_.save_loggers();
  }
}

}  // namespace mishap::detail
