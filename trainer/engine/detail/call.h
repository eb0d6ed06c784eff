#pragma once

#include <mishap/trainer/engine/data_module.h>
#include <mishap/trainer/engine/detail/components.h>
#include <mishap/trainer/engine/detail/module_modes.h>
#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/engine/session.h>
#include <mishap/trainer/guard/file_store.h>
#include <mishap/trainer/guard/run.h>

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace mishap::detail {

/// The loaders of one kind while a call uses them; for training there is one.
struct LoadersInUse {
  struct One {
    LoaderPtr loader;
    /// How many passes have begun.
    std::int64_t passes = 0;
  };
  std::vector<One> loaders;
  /// The hook that made them, for messages.
  Hook made_by = Hook::kNone;

  explicit operator bool() const noexcept { return !loaders.empty(); }
  One& only() { return loaders.front(); }
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

  /// Makes the loaders by that hook of the data module; they live until the end
  /// of the call.
  LoadersInUse& make_loaders(
      Hook hook, const std::function<std::vector<LoaderPtr>()>& make,
      Loaders need);

  /// The next batch, moved to the device and held by the session; null at the
  /// end of the pass. `begins`: it is the first one that is taken of the pass.
  const Batch* load(const LoadersInUse& in_use, LoadersInUse::One& one,
                    std::int64_t index, bool begins);

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

  /// Runs a hook of the callbacks that do not monitor, of the module, of those
  /// that do.
  template <class CallbackHook, class ModuleHook, class... Arguments>
  void notify_in_turn(Hook hook, CallbackHook callback_hook,
                      ModuleHook module_hook, Arguments&... arguments) {
    notify_turn(/*monitors=*/false, hook, callback_hook, arguments...);
    notify_module(hook, module_hook, arguments...);
    notify_turn(/*monitors=*/true, hook, callback_hook, arguments...);
  }

  template <class CallbackHook, class... Arguments>
  void notify_turn(bool monitors, Hook hook, CallbackHook callback_hook,
                   Arguments&... arguments) {
    for (const CallbackSeat& seat : callbacks_) {
      if (seat.monitors == monitors) {
        notify_callback(hook, seat, callback_hook, arguments...);
      }
    }
  }

  /// Runs a hook of every logger.
  template <class Body>
  void notify_loggers(Hook hook, Body body) {
    for (LoggerSeat& seat : loggers_) {
      notify_logger(hook, seat, [&] { body(*seat.logger); });
    }
  }
  void notify_logger(Hook hook, LoggerSeat& seat,
                     const std::function<void()>& body);

  /// Does with a loss that is NaN or infinite what the options say.
  void watch_loss(const torch::Tensor& loss);

  void log_hyperparams();
  /// Gives metrics to all loggers, unless there is nothing to give.
  void log_metrics(const Metrics& metrics);
  void save_loggers();

  Run& run() noexcept { return run_; }
  Session& session() noexcept { return session_; }
  Module& module() noexcept { return module_; }
  DataModule& data() noexcept { return data_; }
  Optimizers& optimizers() noexcept { return optimizers_; }
  FileStore& store() const noexcept {
    return options_.store ? *options_.store : FileStore::system();
  }
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
  void check_optimization() const;
  void owe_data_teardown();
  void prepare_data();
  void open_loggers();
  void follow_logger_rule(LoggerSeat& seat, const std::function<void()>& body);
  void leave_out(LoggerSeat& seat, std::string_view why);
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
  std::vector<std::unique_ptr<LoadersInUse>> loaders_;
  std::exception_ptr unseated_;
  bool keeps_gradients_ = false;
  bool data_teardown_owed_ = false;
  bool module_teardown_owed_ = false;
};

}  // namespace mishap::detail
