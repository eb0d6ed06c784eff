#include <cxxabi.h>
#include <mishap/trainer/engine/class_name_of.h>
#include <mishap/trainer/engine/detail/call.h>
#include <mishap/trainer/engine/detail/rng_isolation.h>
#include <mishap/trainer/engine/detail/scalar_value.h>
#include <mishap/trainer/engine/device.h>
#include <mishap/trainer/guard/errors.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace mishap::detail {
namespace {

// Who is told of a failure first.
enum TellOrder : int { kCallbacks, kData, kModule, kStrategy };

}  // namespace

Call::Call(Run& run, Module& module, DataModule& data,
           const TrainerOptions& options)
    : run_(run),
      module_(module),
      data_(data),
      options_(options),
      fixed_(fixed_components()),
      session_(run, module, options),
      strategy_(options.strategy ? options.strategy
                                 : std::make_shared<SingleDevice>()) {}

void Call::configure(bool nested) {
  keeps_gradients_ = nested || session_.is_inside_call_of(module_);
  tell_everybody();
  owe_release([this] { session_.drop_batch(); });
  owe_release([this] { drop_gradients(); });
  modes_.emplace_back(module_);
  owe_release([this] {
    for (; !modes_.empty(); modes_.pop_back()) {
      modes_.back().restore();
    }
  });

  raise_unseated();
  for (auto& [name, value] : describe(options_)) {
    run_.set_option(name, std::move(value));
  }
  if (options_.seed) {
    run_.set_seed(*options_.seed);
  }
  run_.set_weights(Weights::kConsistent);
  check(options_);
  if (!names_.problem().empty()) {
    throw InputError(names_.problem());
  }
  device_ = device_from(options_.device);
  data_transfers_ = data_.overrides_transfer();
  transfers_ = data_transfers_ ? fixed_.data : fixed_.module;
  if (options_.deterministic) {
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  }

  const auto added =
      notify_module(Hook::kConfigureCallbacks, &Module::configure_callbacks);
  for (const std::shared_ptr<Callback>& callback : added) {
    if (callback == nullptr) {
      throw InputError(class_name_of(module_) +
                       "::configure_callbacks returned a null callback; leave "
                       "it out");
    }
    seat_callback(callback);
  }
  raise_unseated();
  if (!names_.problem().empty()) {
    throw InputError(names_.problem());
  }
}

void Call::tell_everybody() {
  run_.owe(
      DutyKind::kTell, fixed_.data,
      [this](Run& run) { data_.on_exception(run.event_for(fixed_.data)); },
      kData);
  run_.owe(
      DutyKind::kTell, fixed_.module,
      [this](Run& run) { module_.on_exception(run.event_for(fixed_.module)); },
      kModule);
  run_.owe(
      DutyKind::kTell, fixed_.strategy,
      [this](Run& run) {
        strategy_->on_exception(run.event_for(fixed_.strategy));
      },
      kStrategy);
  for (const std::shared_ptr<Callback>& callback : options_.callbacks) {
    if (callback != nullptr) {
      seat_callback(callback);
    }
  }
  for (const std::shared_ptr<Logger>& logger : options_.loggers) {
    if (logger != nullptr) {
      std::string name;
      ask([&] { name = logger->name(); });
      loggers_.push_back(
          {logger, names_.add("logger.", name, class_name_of(*logger))});
    }
  }
}

// What a component says of itself before anybody is told of errors: an error of
// its own waits until all are seated.
void Call::ask(const std::function<void()>& question) {
  try {
    question();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    if (!unseated_) {
      unseated_ = std::current_exception();
    }
  }
}

void Call::seat_callback(const std::shared_ptr<Callback>& callback) {
  std::string name;
  ask([&] { name = callback->name(); });
  const Component component =
      names_.add("callback.", name, class_name_of(*callback));
  CallbackSeat seat{callback, component};
  ask([&] { seat.saves = callback->saves(); });
  ask([&] { seat.monitors = seat.saves || callback->monitors(); });
  const auto savers = std::ranges::find(callbacks_, true, &CallbackSeat::saves);
  callbacks_.insert(seat.saves ? callbacks_.end() : savers, seat);
  run_.owe(
      DutyKind::kTell, component,
      [told = callback.get(), component](Run& run) {
        told->on_exception(run.event_for(component));
      },
      kCallbacks);
}

void Call::raise_unseated() {
  if (unseated_) {
    std::rethrow_exception(std::exchange(unseated_, nullptr));
  }
}

void Call::owe_release(std::function<void()> release) {
  run_.owe(DutyKind::kRelease, Component(),
           [release = std::move(release)](Run&) { release(); });
}

void Call::set_up() {
  run_.set_stage(Stage::kSetup);
  prepare_data();
  open_loggers();
  set_up_components();
  notify_module(Hook::kConfigureModel, &Module::configure_model);
  set_up_strategy();
}

void Call::owe_data_teardown() {
  if (!std::exchange(data_teardown_owed_, true)) {
    run_.owe(DutyKind::kTeardown, fixed_.data,
             [this](Run&) { data_.teardown(); });
  }
}

void Call::prepare_data() {
  run_.call(Hook::kPrepareData, fixed_.data, [&] {
    owe_data_teardown();
    data_.prepare_data();
  });
  run_.call(Hook::kPrepareData, fixed_.module, [&] {
    // The module is set up last and torn down first; only when its setup was
    // never reached is it torn down in the place of its prepare_data.
    run_.owe(DutyKind::kTeardown, Component(), [this](Run& run) {
      if (!module_teardown_owed_) {
        run.isolate("teardown", fixed_.module, Hook::kTeardown,
                    [this] { module_.teardown(); });
      }
    });
    module_.prepare_data();
  });
}

void Call::open_loggers() {
  for (LoggerSeat& seat : loggers_) {
    notify_logger(Hook::kExperiment, seat, [&] {
      // A duty of no component, so that the rule for loggers holds for it too.
      run_.owe(DutyKind::kFinalize, Component(), [this, &seat](Run& run) {
        follow_logger_rule(seat, [&] {
          run.isolate("finalize", seat.component, Hook::kFinalize,
                      [&] { seat.logger->finalize(run.final_word()); });
        });
      });
      seat.logger->experiment();
    });
  }
}

void Call::notify_logger(Hook hook, LoggerSeat& seat,
                         const std::function<void()>& body) {
  if (!seat.left_out) {
    follow_logger_rule(seat, [&] { run_.call(hook, seat.component, body); });
  }
}

void Call::follow_logger_rule(LoggerSeat& seat,
                              const std::function<void()>& body) {
  if (options_.on_logger_error == OnLoggerError::kThrow) {
    body();
    return;
  }
  try {
    body();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    leave_out(seat, error.what());
  } catch (...) {
    leave_out(seat, "an exception of no standard type");
  }
}

void Call::leave_out(LoggerSeat& seat, std::string_view why) {
  seat.left_out = true;
  TORCH_WARN(
      std::string(seat.component.name()),
      " failed and is left out for the rest of this run: ", std::string(why));
}

void Call::set_up_components() {
  const std::string_view entry_point = run_.entry_point();
  run_.call(Hook::kSetup, fixed_.data, [&] {
    owe_data_teardown();
    data_.setup(entry_point);
  });
  for (const CallbackSeat& seat : callbacks_) {
    run_.call(Hook::kSetup, seat.component, [&] {
      run_.owe(DutyKind::kTeardown, seat.component,
               [this, callback = seat.callback.get()](Run&) {
                 callback->teardown(session_);
               });
      seat.callback->setup(session_);
    });
  }
  run_.call(Hook::kSetup, fixed_.module, [&] {
    module_teardown_owed_ = true;
    run_.owe(DutyKind::kTeardown, fixed_.module,
             [this](Run&) { module_.teardown(); });
    module_.setup(entry_point);
  });
}

void Call::set_up_strategy() {
  run_.call(Hook::kSetup, fixed_.strategy, [&] {
    run_.owe(DutyKind::kRelease, fixed_.strategy,
             [this](Run&) { strategy_->teardown(module_); });
    strategy_->setup(module_, device_);
  });
}

Optimizers& Call::make_optimizers() {
  owe_release([this] { optimizers_ = Optimizers(); });
  run_.call(Hook::kConfigureOptimizers, fixed_.module, [&] {
    optimizers_ = module_.configure_optimizers();
    check(optimizers_, class_name_of(module_));
    check_optimization();
  });
  return optimizers_;
}

void Call::check_optimization() const {
  const std::string owner = class_name_of(module_);
  if (module_.automatic_optimization()) {
    if (optimizers_.size() > 1) {
      throw InputError(owner + "::configure_optimizers returned " +
                       std::to_string(optimizers_.size()) +
                       " optimizers; return one, or override "
                       "automatic_optimization() and step them by hand");
    }
    return;
  }
  if (options_.accumulate_grad_batches != 1 || options_.gradient_clip_norm) {
    throw InputError(owner +
                     " optimises by hand, where accumulate_grad_batches and "
                     "gradient_clip_norm do nothing; leave them out of "
                     "TrainerOptions and do both in training_step");
  }
}

LoadersInUse& Call::make_loaders(
    Hook hook, const std::function<std::vector<LoaderPtr>()>& make,
    Loaders need) {
  LoadersInUse& in_use =
      *loaders_.emplace_back(std::make_unique<LoadersInUse>());
  in_use.made_by = hook;
  owe_release([&in_use] { in_use.loaders.clear(); });
  run_.call(hook, fixed_.data, [&] {
    for (LoaderPtr& loader : make()) {
      if (loader == nullptr) {
        throw InputError("one of the loaders of " +
                         std::string(to_string(hook)) +
                         "s is null; leave it out");
      }
      in_use.loaders.push_back({std::move(loader)});
    }
    if (!in_use && need == Loaders::kRequired) {
      throw InputError("the data module's " + std::string(to_string(hook)) +
                       " returned no loader; " +
                       std::string(run_.entry_point()) + " needs one");
    }
  });
  return in_use;
}

const Batch* Call::load(const LoadersInUse& in_use, LoadersInUse::One& one,
                        std::int64_t index, bool begins) {
  session_.drop_batch();
  std::optional<Batch> batch = run_.call(Hook::kLoadBatch, fixed_.loader, [&] {
    if (begins) {
      const std::int64_t pass = one.passes++;
      if (index == 0) {
        one.loader->start(pass);
      } else {
        // What it draws to pass over them it has drawn before.
        const RngIsolation isolation(device_);
        one.loader->start_at(pass, index);
      }
    }
    std::optional<Batch> next = one.loader->next();
    if (!next && index == 0) {
      throw NothingRan(std::string(run_.entry_point()) +
                       " ran no batch: the loader of " +
                       std::string(to_string(in_use.made_by)) +
                       "() ended before its first one; check that its data "
                       "set holds at least one batch");
    }
    return next;
  });
  if (!batch) {
    return nullptr;
  }
  return &session_.hold(transfer(std::move(*batch)));
}

Batch Call::transfer(Batch batch) {
  batch = run_.call(Hook::kOnBeforeBatchTransfer, transfers_, [&] {
    return data_transfers_ ? data_.on_before_batch_transfer(std::move(batch))
                           : module_.on_before_batch_transfer(std::move(batch));
  });
  batch = run_.call(Hook::kTransferBatchToDevice, transfers_, [&] {
    return data_transfers_
               ? data_.transfer_batch_to_device(std::move(batch), device_)
               : module_.transfer_batch_to_device(std::move(batch), device_);
  });
  return run_.call(Hook::kOnAfterBatchTransfer, transfers_, [&] {
    return data_transfers_ ? data_.on_after_batch_transfer(std::move(batch))
                           : module_.on_after_batch_transfer(std::move(batch));
  });
}

void Call::enter_evaluation() { modes_.emplace_back(module_); }

void Call::leave_evaluation() {
  modes_.back().restore();
  modes_.pop_back();
}

void Call::drop_gradients() {
  if (keeps_gradients_) {
    return;
  }
  for (torch::Tensor& parameter : module_.parameters()) {
    parameter.mutable_grad() = torch::Tensor();
  }
}

void Call::watch_loss(const torch::Tensor& loss) {
  const double value = scalar_value(loss);
  run_.note_loss(value);
  if (std::isfinite(value)) [[likely]] {
    return;
  }
  if (options_.on_non_finite == OnNonFinite::kThrow) {
    run_.check_finite(value, "the loss");
  }
  TORCH_WARN("the loss is ", value, " at step ", run_.place().step);
}

void Call::log_hyperparams() {
  const Hyperparameters parameters = describe(options_);
  notify_loggers(Hook::kLogHyperparams,
                 [&](Logger& logger) { logger.log_hyperparams(parameters); });
}

void Call::log_metrics(const Metrics& metrics) {
  if (metrics.empty()) {
    return;
  }
  notify_loggers(Hook::kLogMetrics, [&](Logger& logger) {
    logger.log_metrics(metrics, run_.place());
  });
}

void Call::save_loggers() {
  notify_loggers(Hook::kSave, [](Logger& logger) { logger.save(); });
}

}  // namespace mishap::detail
