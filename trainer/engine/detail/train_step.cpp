#include <mishap/trainer/engine/class_name_of.h>
#include <mishap/trainer/engine/detail/train_step.h>
#include <mishap/trainer/guard/errors.h>

#include <cmath>
#include <utility>

namespace mishap::detail {

TrainStep::TrainStep(Call& call, Optimizers& optimizers)
    : call_(call),
      optimizer_(*optimizers.optimizer()),
      optimizers_(optimizers),
      closure_([this] { return compute(); }) {
  call_.run().set_step(0);
}

void TrainStep::run(const Batch& batch, std::int64_t index) {
  batch_ = &batch;
  index_ = index;
  MetricStore& store = *call_.session().store();
  store.set_weight(batch.size());
  call_.notify(Hook::kOnTrainBatchStart, &Callback::on_train_batch_start,
               &Module::on_train_batch_start, batch, index);
  call_.notify_strategy(Hook::kOnTrainBatchStart,
                        &Strategy::on_train_batch_start, batch, index);
  update();
  torch::optim::LRScheduler* const scheduler = optimizers_.scheduler();
  if (scheduler != nullptr && optimizers_.every() == Optimizers::Every::kStep) {
    call_.notify_module(Hook::kLrSchedulerStep, &Module::lr_scheduler_step,
                        *scheduler);
  }
  const torch::Tensor loss = std::exchange(loss_, torch::Tensor());
  call_.notify(Hook::kOnTrainBatchEnd, &Callback::on_train_batch_end,
               &Module::on_train_batch_end, loss, batch, index);
  store.set_weight(1);
  if (call_.has_loggers() && store.has_latest()) {
    log_step();
  }
}

void TrainStep::update() {
  Run& run = call_.run();
  run.call(Hook::kOptimizerStep, fixed_components().module, [&] {
    Module& module = call_.module();
    module.optimizer_step(optimizer_, closure_);
    if (!loss_.defined()) {
      throw InputError(class_name_of(module) +
                       "::optimizer_step did not call its closure, so no "
                       "training_step ran; call it, for example by "
                       "optimizer.step(closure)");
    }
    run.set_weights(Weights::kConsistent);
    run.set_step(++steps_);
  });
}

torch::Tensor TrainStep::compute() {
  loss_ = call_.run().call(Hook::kTrainingStep, fixed_components().module,
                           [&] { return checked_loss(); });
  call_.notify(Hook::kOnBeforeZeroGrad, &Callback::on_before_zero_grad,
               &Module::on_before_zero_grad, optimizer_);
  call_.notify_module(Hook::kOptimizerZeroGrad, &Module::optimizer_zero_grad,
                      optimizer_);
  call_.notify(Hook::kOnBeforeBackward, &Callback::on_before_backward,
               &Module::on_before_backward, loss_);
  call_.notify_module(Hook::kBackward, &Module::backward, loss_);
  call_.notify(Hook::kOnAfterBackward, &Callback::on_after_backward,
               &Module::on_after_backward);
  call_.notify(Hook::kOnBeforeOptimizerStep,
               &Callback::on_before_optimizer_step,
               &Module::on_before_optimizer_step, optimizer_);
  call_.notify_module(Hook::kConfigureGradientClipping,
                      &Module::configure_gradient_clipping, optimizer_,
                      call_.options().gradient_clip_norm);
  call_.run().set_weights(Weights::kPartial);
  return loss_;
}

torch::Tensor TrainStep::checked_loss() {
  torch::Tensor loss = call_.module().training_step(*batch_, index_);
  if (!loss.defined()) {
    throw InputError(class_name_of(call_.module()) +
                     "::training_step returned no loss; return a scalar with "
                     "a gradient");
  }
  // Whether a loss of more elements is wrong is for backward to say.
  if (watches_this_loss() && loss.numel() == 1) {
    const double value = loss.item<double>();
    if (!std::isfinite(value)) [[unlikely]] {
      if (call_.options().on_non_finite == OnNonFinite::kThrow) {
        call_.run().check_finite(value, "the loss");
      }
      TORCH_WARN("the loss is ", value, " at step ", steps_);
    }
  }
  return loss;
}

bool TrainStep::watches_this_loss() const {
  const TrainerOptions& options = call_.options();
  if (options.on_non_finite == OnNonFinite::kIgnore) {
    return false;
  }
  return call_.device().is_cpu() || steps_ % options.log_every_n_steps == 0;
}

void TrainStep::log_step() {
  if (steps_ % call_.options().log_every_n_steps == 0) {
    call_.log_metrics(call_.session().store()->take_latest());
  }
}

}  // namespace mishap::detail
