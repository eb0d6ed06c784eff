#include <mishap/trainer/engine/class_name_of.h>
#include <mishap/trainer/engine/detail/train_step.h>
#include <mishap/trainer/guard/errors.h>

#include <cmath>
#include <utility>

namespace mishap::detail {
namespace {

// While it lives the module may optimise by hand.
class ByHand {
 public:
  ByHand(Session& session, ManualOptimization& moves) noexcept
      : session_(session) {
    session_.set_by_hand(&moves);
  }
  ~ByHand() { session_.set_by_hand(nullptr); }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;

 private:
  Session& session_;
};

}  // namespace

TrainStep::TrainStep(Call& call, ResumePoints& points)
    : call_(call),
      points_(points),
      progress_(points.progress()),
      is_automatic_(call.module().automatic_optimization()),
      closure_([this] { return compute_for_update(); }) {
  call_.run().set_step(progress_.step);
}

void TrainStep::run(const Batch& batch, std::int64_t index, bool is_last) {
  batch_ = &batch;
  index_ = index;
  batches_ = index + 1;
  call_.run().begin_step(progress_.step);
  MetricStore& store = *call_.session().store();
  store.set_weight(batch.size());
  call_.notify(Hook::kOnTrainBatchStart, &Callback::on_train_batch_start,
               &Module::on_train_batch_start, batch, index);
  call_.notify_strategy(Hook::kOnTrainBatchStart,
                        &Strategy::on_train_batch_start, batch, index);
  if (is_automatic_) {
    train(is_last);
  } else {
    train_by_hand();
  }
  batch_done();
  const torch::Tensor loss = std::exchange(loss_, torch::Tensor());
  call_.notify_in_turn(Hook::kOnTrainBatchEnd, &Callback::on_train_batch_end,
                       &Module::on_train_batch_end, loss, batch, index);
  store.set_weight(1);
  if (call_.has_loggers() && store.has_latest()) {
    log_step();
  }
}

void TrainStep::train(bool is_last) {
  const bool is_full =
      progress_.in_window + 1 >= call_.options().accumulate_grad_batches;
  if (is_full || is_last) {
    update(0, closure_);
  } else {
    compute();
    ++progress_.in_window;
  }
}

void TrainStep::train_by_hand() {
  const ByHand by_hand(call_.session(), *this);
  loss_ = call_.run().call(Hook::kTrainingStep, fixed_components().module, [&] {
    return call_.module().training_step(*batch_, index_);
  });
}

// By hand a batch may have several updates and is done when its step is.
void TrainStep::batch_done() {
  progress_.batches = batches_;
  if (!is_automatic_) {
    progress_.schedules_due = true;
    points_.reach();
  }
  catch_up();
  if (progress_.in_window > 0) {
    points_.reach();
  }
}

void TrainStep::catch_up() {
  if (!progress_.schedules_due) {
    return;
  }
  step_schedules([](const Optimizers::Schedule& schedule) {
    return !schedule.plateau && schedule.every == Optimizers::Every::kStep;
  });
  const bool any = !call_.optimizers().schedules().empty();
  progress_.schedules_due = false;
  progress_.schedules_done = 0;
  if (any) {
    points_.reach();
  }
}

void TrainStep::finish_window() {
  if (progress_.in_window == 0) {
    return;
  }
  batches_ = progress_.batches;
  update(0, [this] {
    before_update(0);
    // The optimizer wants a loss; the gradients are there already.
    loss_ = torch::zeros({});
    return loss_;
  });
  loss_ = torch::Tensor();
  catch_up();
}

void TrainStep::update(std::size_t optimizer, const Module::Closure& closure) {
  Run& run = call_.run();
  run.call(Hook::kOptimizerStep, fixed_components().module, [&] {
    Module& module = call_.module();
    bool is_called = false;
    module.optimizer_step(call_.optimizers()[optimizer], [&] {
      is_called = true;
      return closure();
    });
    if (!is_called) {
      throw InputError(class_name_of(module) +
                       "::optimizer_step did not call its closure, so no "
                       "training_step ran; call it, for example by "
                       "optimizer.step(closure)");
    }
    run.set_weights(Weights::kConsistent);
    run.set_step(++progress_.step);
    if (is_automatic_) {
      progress_.batches = batches_;
      progress_.in_window = 0;
      progress_.schedules_due = true;
      points_.reach();
    }
  });
}

torch::Tensor TrainStep::compute_for_update() {
  compute();
  before_update(0);
  return loss_;
}

torch::Tensor TrainStep::compute() {
  loss_ = call_.run().call(Hook::kTrainingStep, fixed_components().module,
                           [&] { return checked_loss(); });
  if (progress_.in_window == 0) {
    clear_gradients(0);
  }
  const std::int64_t window = call_.options().accumulate_grad_batches;
  go_back_through(window == 1 ? loss_ : loss_ / window);
  return loss_;
}

void TrainStep::clear_gradients(std::size_t optimizer) {
  torch::optim::Optimizer& chosen = call_.optimizers()[optimizer];
  call_.notify(Hook::kOnBeforeZeroGrad, &Callback::on_before_zero_grad,
               &Module::on_before_zero_grad, chosen);
  call_.notify_module(Hook::kOptimizerZeroGrad, &Module::optimizer_zero_grad,
                      chosen);
}

void TrainStep::go_back_through(torch::Tensor loss) {
  call_.notify(Hook::kOnBeforeBackward, &Callback::on_before_backward,
               &Module::on_before_backward, loss);
  call_.notify_module(Hook::kBackward, &Module::backward, loss);
  call_.notify(Hook::kOnAfterBackward, &Callback::on_after_backward,
               &Module::on_after_backward);
}

void TrainStep::before_update(std::size_t optimizer) {
  torch::optim::Optimizer& chosen = call_.optimizers()[optimizer];
  call_.notify(Hook::kOnBeforeOptimizerStep,
               &Callback::on_before_optimizer_step,
               &Module::on_before_optimizer_step, chosen);
  if (is_automatic_) {
    call_.notify_module(Hook::kConfigureGradientClipping,
                        &Module::configure_gradient_clipping, chosen,
                        call_.options().gradient_clip_norm);
  }
  call_.run().set_weights(Weights::kPartial);
}

void TrainStep::backward(const torch::Tensor& loss) {
  if (watches_this_loss() && loss.defined() && loss.numel() == 1) {
    call_.watch_loss(loss);
  }
  go_back_through(loss);
}

void TrainStep::step(std::size_t optimizer) {
  call_.session().optimizer(optimizer);
  update(optimizer, [&] {
    before_update(optimizer);
    return torch::Tensor();
  });
}

void TrainStep::zero_grad(std::size_t optimizer) {
  call_.session().optimizer(optimizer);
  clear_gradients(optimizer);
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
    call_.watch_loss(loss);
  }
  return loss;
}

bool TrainStep::watches_this_loss() const {
  const TrainerOptions& options = call_.options();
  if (options.on_non_finite == OnNonFinite::kIgnore) {
    return false;
  }
  return call_.device().is_cpu() ||
         progress_.step % options.log_every_n_steps == 0;
}

// Counted inside the hook, so that what fails behind it finds it done.
void TrainStep::step(Optimizers::Schedule& schedule) {
  call_.run().call(Hook::kLrSchedulerStep, fixed_components().module, [&] {
    Module& module = call_.module();
    if (schedule.plateau) {
      module.plateau_scheduler_step(
          *schedule.plateau, monitored(schedule.plateau->options().monitor));
    } else {
      module.lr_scheduler_step(*schedule.scheduler);
    }
    ++schedule.steps;
    ++progress_.schedules_done;
    points_.reach();
  });
}

double TrainStep::monitored(const std::string& metric) const {
  const Metrics& metrics = call_.session().metrics();
  const auto found = metrics.find(metric);
  if (found != metrics.end()) {
    return found->second;
  }
  throw InputError("PlateauOptions.monitor is '" + metric +
                   "', which nothing logs; logged are: " + names_of(metrics));
}

void TrainStep::log_step() {
  if (progress_.step % call_.options().log_every_n_steps == 0) {
    call_.log_metrics(call_.session().store()->take_latest());
  }
}

}  // namespace mishap::detail
