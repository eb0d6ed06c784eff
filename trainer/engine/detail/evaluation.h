#pragma once

#include <mishap/trainer/engine/detail/call.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace mishap::detail {

/// Hooks and methods of one kind of evaluation; see the three tables below.
struct EvaluationKind {
  using CallbackHook = void (Callback::*)(Session&);
  using CallbackBatchStart = void (Callback::*)(Session&, const Batch&,
                                                std::int64_t);
  using ModuleHook = void (Module::*)();
  using ModuleBatchStart = void (Module::*)(const Batch&, std::int64_t);
  using StrategyHook = void (Strategy::*)();

  Stage stage;
  Hook loader;
  Hook model_eval, model_train, start, end, epoch_start, epoch_end;
  Hook batch_start, step, batch_end;
  std::vector<LoaderPtr> (DataModule::*make_loaders)();

  CallbackHook callback_start, callback_end;
  CallbackHook callback_epoch_start, callback_epoch_end;
  CallbackBatchStart callback_batch_start;
  void (*callback_batch_end)(Callback&, Session&, const torch::Tensor& output,
                             const Batch&, std::int64_t);

  ModuleHook module_eval, module_train, module_start, module_end;
  ModuleHook module_epoch_start, module_epoch_end;
  ModuleBatchStart module_batch_start;
  torch::Tensor (*module_step)(Module&, const Batch&, std::int64_t);
  void (*module_batch_end)(Module&, const torch::Tensor& output, const Batch&,
                           std::int64_t);

  StrategyHook strategy_start, strategy_end;
};

extern const EvaluationKind kValidation;
extern const EvaluationKind kTesting;
extern const EvaluationKind kPrediction;

/// Where an evaluation takes place and what becomes of its results.
struct EvaluationUse {
  /// Batches of a pass over each loader; all when unset.
  std::optional<BatchLimit> limit;
  /// The option that the limit is.
  std::string_view limit_option;
  /// And never more than so many.
  std::optional<std::int64_t> at_most;
  /// Inside a fit: gradients are dropped first, unless they still wait for an
  /// update.
  bool inside_fit = false;
  bool keeps_gradients = false;
  /// Only looks whether it works: nothing goes to the loggers.
  bool sanity_check = false;
  /// Collects what predict_step returns.
  std::vector<torch::Tensor>* outputs = nullptr;
  /// Called after each batch.
  std::function<void()> between_batches;
  /// Called when all is evaluated, before the on_…_end hooks.
  std::function<void()> evaluated;
};

/// Runs one pass over each loader in evaluation mode without gradients and
/// returns what was logged, reduced.
Metrics evaluate(Call& call, const EvaluationKind& kind, LoadersInUse& loaders,
                 const EvaluationUse& use);

}  // namespace mishap::detail
