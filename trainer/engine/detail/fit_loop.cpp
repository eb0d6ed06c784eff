#include <mishap/trainer/engine/detail/collecting.h>
#include <mishap/trainer/engine/detail/fit_loop.h>
#include <mishap/trainer/engine/detail/rng_isolation.h>
#include <mishap/trainer/guard/errors.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <algorithm>
#include <string>
#include <utility>

namespace mishap::detail {

FitLoop::FitLoop(Call& call)
    : call_(call),
      points_(call),
      progress_(points_.progress()),
      checkpoints_(call, points_),
      step_(call, points_),
      start_(std::chrono::steady_clock::now()) {
  call_.session().set_fit(this);
}

FitLoop::~FitLoop() { call_.session().set_fit(nullptr); }

void FitLoop::run(const std::filesystem::path& checkpoint) {
  if (const std::optional<int> signal = call_.options().signal_checkpoint) {
    try {
      asked_to_save_.emplace(*signal);
    } catch (const InputError& error) {
      throw InputError(std::string("TrainerOptions.signal_checkpoint: ") +
                       error.what());
    }
    call_.run().owe(DutyKind::kRelease, Component(),
                    [this](Run&) { asked_to_save_.reset(); });
    points_.keep();
  }
  if (!checkpoint.empty()) {
    checkpoints_.load(checkpoint);
    resumes_ = true;
    if (progress_.stopping) {
      call_.session().stop();
    }
  }
  call_.notify(Hook::kOnFitStart, &Callback::on_fit_start,
               &Module::on_fit_start);
  call_.log_hyperparams();
  call_.save_loggers();
  if (!resumes_) {
    check_sanity();
  }
  call_.run().set_stage(Stage::kTrain);
  if (trains()) {
    train();
  }
  call_.notify(Hook::kOnFitEnd, &Callback::on_fit_end, &Module::on_fit_end);
}

torch::optim::Optimizer& FitLoop::optimizer(std::size_t index) {
  return call_.optimizers()[index];
}

std::size_t FitLoop::optimizers() const { return call_.optimizers().size(); }

std::int64_t FitLoop::batches_in_epoch() const { return batches_.value_or(-1); }

void FitLoop::save_checkpoint(std::span<const std::filesystem::path> paths,
                              const std::function<void(std::size_t)>& saved) {
  checkpoints_.save(paths, nanos_spent(), saved);
}

bool FitLoop::can_save() { return points_.point().has_value(); }

std::int64_t FitLoop::step_to_resume() {
  const auto point = points_.point();
  return point ? point->progress.step : -1;
}

bool FitLoop::trains() const {
  const TrainerOptions& options = call_.options();
  return options.max_epochs > 0 && options.max_steps != 0 &&
         !(options.limit_train_batches &&
           options.limit_train_batches->is_none());
}

bool FitLoop::validates() const {
  const std::optional<BatchLimit>& limit = call_.options().limit_val_batches;
  return !(limit && limit->is_none());
}

bool FitLoop::validates_in_this_epoch() const {
  return val_loaders_ != nullptr && *val_loaders_ &&
         (progress_.epoch + 1) % call_.options().check_val_every_n_epoch == 0;
}

LoadersInUse& FitLoop::val_loaders() {
  if (val_loaders_ == nullptr) {
    val_loaders_ = &call_.make_loaders(
        Hook::kValDataloader, [this] { return call_.data().val_dataloaders(); },
        Call::Loaders::kOptional);
  }
  return *val_loaders_;
}

void FitLoop::check_sanity() {
  const TrainerOptions& options = call_.options();
  if (!validates() || options.num_sanity_val_steps == 0) {
    return;
  }
  call_.run().set_stage(Stage::kSanityCheck);
  const RngIsolation isolation(call_.device());
  LoadersInUse& loaders = val_loaders();
  if (!loaders) {
    return;
  }
  call_.notify_callbacks(Hook::kOnSanityCheckStart,
                         &Callback::on_sanity_check_start);
  EvaluationUse use;
  use.limit = options.limit_val_batches;
  use.limit_option = "limit_val_batches";
  use.at_most = options.num_sanity_val_steps;
  use.inside_fit = true;
  use.sanity_check = true;
  evaluate(call_, kValidation, loaders, use);
  call_.notify_callbacks(Hook::kOnSanityCheckEnd,
                         &Callback::on_sanity_check_end);
}

void FitLoop::train() {
  std::optional<torch::autograd::DetectAnomalyGuard> anomaly;
  if (call_.options().detect_anomaly) {
    anomaly.emplace();
  }
  const torch::AutoGradMode grad(true);
  LoadersInUse& train = call_.make_loaders(
      Hook::kTrainDataloader,
      [this] {
        std::vector<LoaderPtr> loaders;
        if (LoaderPtr loader = call_.data().train_dataloader()) {
          loaders.push_back(std::move(loader));
        }
        return loaders;
      },
      Call::Loaders::kRequired);
  size_up(train);
  checkpoints_.watch(train);
  checkpoints_.restore_loader(train);
  if (validates()) {
    val_loaders();
  }
  if (resumes_) {
    checkpoints_.restore_random();
  }
  points_.reach();
  call_.notify(Hook::kOnTrainStart, &Callback::on_train_start,
               &Module::on_train_start);
  call_.notify_strategy(Hook::kOnTrainStart, &Strategy::on_train_start);
  while (!done()) {
    train_epoch(train);
  }
  call_.notify(Hook::kOnTrainEnd, &Callback::on_train_end,
               &Module::on_train_end);
  call_.notify_strategy(Hook::kOnTrainEnd, &Strategy::on_train_end);
}

void FitLoop::size_up(const LoadersInUse& train) {
  const TrainerOptions& options = call_.options();
  const auto size = train.loaders.front().loader->size();
  if (options.limit_train_batches) {
    limit_ =
        options.limit_train_batches->batches_of(size, "limit_train_batches");
  }
  batches_ = limit_ && size ? std::min(*limit_, *size) : limit_ ? limit_ : size;
  if (!options.val_check_interval) {
    return;
  }
  val_interval_ =
      options.val_check_interval->batches_of(batches_, "val_check_interval");
  if (batches_ && *batches_ > 0 && *val_interval_ > *batches_) {
    throw InputError("TrainerOptions.val_check_interval is " +
                     options.val_check_interval->text() +
                     ", but an epoch has " + std::to_string(*batches_) +
                     " batches; give at most so many, or use "
                     "check_val_every_n_epoch");
  }
}

// Where no point to go on from was reached yet, the signal waits.
void FitLoop::save_if_asked() {
  if (!asked_to_save_) {
    return;
  }
  owes_save_ |= asked_to_save_->take();
  if (owes_save_ && can_save()) {
    owes_save_ = false;
    const auto path = call_.options().root_dir / "signal.ckpt";
    std::filesystem::create_directories(call_.options().root_dir);
    checkpoints_.save({&path, 1}, nanos_spent(), [](std::size_t) {});
  }
}

bool FitLoop::done() const {
  const TrainerOptions& options = call_.options();
  if (progress_.epoch >= options.max_epochs || call_.session().stopping() ||
      (options.max_steps && progress_.step >= *options.max_steps)) {
    return true;
  }
  return options.max_time && nanos_spent() >= options.max_time->count();
}

std::int64_t FitLoop::nanos_spent() const {
  const std::chrono::nanoseconds spent =
      std::chrono::steady_clock::now() - start_;
  return progress_.nanos + spent.count();
}

void FitLoop::train_epoch(LoadersInUse& train) {
  call_.run().set_epoch(progress_.epoch);
  const Collecting collecting(call_.session(), points_.metrics());
  begin_epoch();
  if (!progress_.epoch_ended) {
    train_batches(train);
    step_.finish_window();
    if (!val_interval_ && validates_in_this_epoch()) {
      validate_unless_done();
    }
  }
  end_epoch();
  progress_.next_epoch();
  train.only().passes = progress_.pass;
  points_.metrics().clear();
  points_.reach();
}

// An epoch that a checkpoint cut is gone on with where it was.
void FitLoop::begin_epoch() {
  if (resumes_) {
    checkpoints_.restore_random();
    checkpoints_.let_go();
    resumes_ = false;
    if (progress_.is_cut) {
      // A limit had ended it early; it is a larger one now.
      progress_.epoch_ended = progress_.is_cut = false;
      progress_.validated_at = -1;
      progress_.schedules_done = 0;
    }
    points_.reach();
    step_.catch_up();
  }
  if (!progress_.epoch_begun) {
    call_.notify(Hook::kOnTrainEpochStart, &Callback::on_train_epoch_start,
                 &Module::on_train_epoch_start);
    progress_.epoch_begun = true;
  }
}

bool FitLoop::is_last(std::int64_t index) const noexcept {
  return batches_ && index + 1 >= *batches_;
}

void FitLoop::train_batches(LoadersInUse& train) {
  Run& run = call_.run();
  validate_inside_epoch();
  bool begins = true;
  for (std::int64_t index = progress_.batches;
       (!limit_ || index < *limit_) && !done(); ++index) {
    points_.go_on();
    run.set_batch(index);
    const Batch* const batch = call_.load(train, train.only(), index, begins);
    begins = false;
    if (batch == nullptr) {
      break;
    }
    step_.run(*batch, index, is_last(index));
    save_if_asked();
    validate_inside_epoch();
  }
  progress_.is_cut = done() && !(batches_ && progress_.batches >= *batches_);
  call_.session().drop_batch();
  run.set_batch(-1);
}

void FitLoop::validate_inside_epoch() {
  if (val_interval_ && progress_.batches > 0 &&
      progress_.batches % *val_interval_ == 0 && validates_in_this_epoch()) {
    validate_unless_done();
  }
}

void FitLoop::validate_unless_done() {
  if (progress_.validated_at != progress_.batches) {
    validate();
  }
}

void FitLoop::validate() {
  const std::int64_t batch = call_.run().place().batch;
  call_.session().drop_batch();
  points_.go_on();
  call_.run().set_stage(Stage::kValidate);
  EvaluationUse use;
  use.limit = call_.options().limit_val_batches;
  use.limit_option = "limit_val_batches";
  use.inside_fit = true;
  use.keeps_gradients =
      progress_.in_window > 0 || !call_.module().automatic_optimization();
  use.between_batches = [this] { save_if_asked(); };
  use.evaluated = [this] {
    progress_.validated_at = progress_.batches;
    points_.reach();
  };
  evaluate(call_, kValidation, val_loaders(), use);
  call_.run().set_stage(Stage::kTrain);
  call_.run().set_batch(batch);
}

void FitLoop::end_epoch() {
  MetricStore& metrics = points_.metrics();
  if (!progress_.epoch_ended) {
    points_.go_on();
    call_.notify_turn(/*monitors=*/false, Hook::kOnTrainEpochEnd,
                      &Callback::on_train_epoch_end);
    call_.notify_module(Hook::kOnTrainEpochEnd, &Module::on_train_epoch_end);
    call_.session().publish(metrics.reduced());
    progress_.epoch_ended = true;
    points_.reach();
    call_.notify_turn(/*monitors=*/true, Hook::kOnTrainEpochEnd,
                      &Callback::on_train_epoch_end);
  }
  points_.go_on();
  step_schedules();
  log_epoch();
}

void FitLoop::step_schedules() {
  const bool are_validated = val_loaders_ != nullptr && *val_loaders_;
  step_.step_schedules([&](const Optimizers::Schedule& schedule) {
    return schedule.plateau ? !are_validated || progress_.validated_at >= 0
                            : schedule.every == Optimizers::Every::kEpoch;
  });
}

void FitLoop::log_epoch() {
  const Metrics metrics = points_.metrics().reduced();
  call_.session().publish(metrics);
  call_.log_metrics(metrics);
  if (!metrics.empty()) {
    call_.save_loggers();
  }
}

}  // namespace mishap::detail
