#pragma once

#include <mishap/trainer/engine/data_module.h>
#include <mishap/trainer/engine/detail/components.h>
#include <mishap/trainer/engine/detail/module_modes.h>
#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/engine/session.h>
#include <mishap/trainer/guard/run.h>

#include <memory>
#include <optional>
#include <vector>

namespace mishap::detail {

/// A loader while a call uses it.
struct LoaderInUse {
  LoaderPtr loader;
  std::int64_t passes = 0;
  /// The hook that made it, for messages.
  Hook made_by = Hook::kNone;

  explicit operator bool() const noexcept { return loader != nullptr; }
};

/// One call of an entry point: who takes part, what they own, what is owed to
/// them. Made inside the guard, outlives the guard's body, so that all of it is
/// still there while the run is cleaned up.
class Call {
 public:
  Call(Run& run, Module& module, DataModule& data,
       const TrainerOptions& options);

  /// Stage configure: from here on everybody hears of a failure. Then checks
  /// all that can be checked before any code of the user's runs.
  void configure(bool nested);

  /// Stage setup: prepare_data to strategy setup.
  void set_up();

  /// The optimizer of a fit, checked; owned by the call.
  Optimizers& make_optimizers();

  enum class Loaders : std::uint8_t { kOptional, kRequired };

  /// Calls the data module's hook; the loader lives until the end of the call.
  LoaderInUse& make_loader(Hook hook, LoaderPtr (DataModule::*make)(),
                           Loaders need);

  /// The next batch, moved to the device and held by the session; null at the
  /// end of the pass. `index` 0 begins a pass.
  const Batch* load(LoaderInUse& in_use, std::int64_t index);

  /// Evaluation mode until leave_evaluation(), or until the end of the call.
  void enter_evaluation();
  void leave_evaluation();

  /// Runs a hook of every callback, then of the module.
  template <class CallbackHook, class ModuleHook, class... Arguments>
  void notify(Hook hook, CallbackHook callback_hook, ModuleHook module_hook,
              Arguments&... arguments) {
    notify_callbacks(hook, callback_hook, arguments...);
    notify_module(hook, module_hook, arguments...);
  }

  template <class CallbackHook, class... Arguments>
  void notify_callbacks(Hook hook, CallbackHook callback_hook,
                        Arguments&... arguments) {
    for (const CallbackSeat& seat : callbacks_) {
      notify_callback(hook, seat, callback_hook, arguments...);
    }
  }

  template <class CallbackHook, class... Arguments>
  void notify_callback(Hook hook, const CallbackSeat& seat,
                       CallbackHook callback_hook, Arguments&... arguments) {
    run_.call(hook, seat.component, [&] {
      ((*seat.callback).*callback_hook)(session_, arguments...);
    });
  }

  template <class ModuleHook, class... Arguments>
  decltype(auto) notify_module(Hook hook, ModuleHook module_hook,
                               Arguments&... arguments) {
    return run_.call(hook, fixed_.module, [&]() -> decltype(auto) {
      return (module_.*module_hook)(arguments...);
    });
  }

  template <class StrategyHook, class... Arguments>
  void notify_strategy(Hook hook, StrategyHook strategy_hook,
                       Arguments&... arguments) {
    run_.call(hook, fixed_.strategy,
              [&] { ((*strategy_).*strategy_hook)(arguments...); });
  }

  /// Runs a hook of every logger.
  template <class Body>
  void notify_loggers(Hook hook, Body body) {
    for (const LoggerSeat& seat : loggers_) {
      run_.call(hook, seat.component, [&] { body(*seat.logger); });
    }
  }

  void log_hyperparams();
  /// Gives metrics to all loggers, unless there is nothing to give.
  void log_metrics(const Metrics& metrics);
  void save_loggers();

  Run& run() noexcept { return run_; }
  Session& session() noexcept { return session_; }
  Module& module() noexcept { return module_; }
  const TrainerOptions& options() const noexcept { return options_; }
  const torch::Device& device() const noexcept { return device_; }
  const std::vector<CallbackSeat>& callbacks() const noexcept {
    return callbacks_;
  }
  bool has_loggers() const noexcept { return !loggers_.empty(); }

 private:
  void seat_callback(const std::shared_ptr<Callback>& callback);
  void tell_everybody();
  void ask(const std::function<void()>& question);
  void raise_unseated();
  void owe_release(std::function<void()> release);
  void owe_data_teardown();
  void prepare_data();
  void open_loggers();
  void set_up_components();
  void set_up_strategy();
  void drop_gradients();
  Batch transfer(Batch batch);

  Run& run_;
  Module& module_;
  DataModule& data_;
  const TrainerOptions& options_;
  const FixedComponents& fixed_;
  Session session_;

  ComponentNames names_;
  std::vector<CallbackSeat> callbacks_;
  std::vector<LoggerSeat> loggers_;
  std::shared_ptr<Strategy> strategy_;
  torch::Device device_{torch::kCPU};
  bool data_transfers_ = false;
  Component transfers_;

  std::vector<ModuleModes> modes_;
  Optimizers optimizers_;
  std::vector<std::unique_ptr<LoaderInUse>> loaders_;
  std::exception_ptr unseated_;
  bool keeps_gradients_ = false;
  bool data_teardown_owed_ = false;
  bool module_teardown_owed_ = false;
};

}  // namespace mishap::detail
