/// A trainer whose failures are recorded and whose cleanup is promised.
///
///     mishap::Trainer trainer({.max_epochs = 3, .seed = 1});
///     trainer.fit(module, data);
///     trainer.test(module, data);
///
/// Start with trainer/engine/module.h for what a module can say.
#pragma once

#include <mishap/collector/torch/quiet_errors.h>
#include <mishap/trainer/cli_torch/app.h>
#include <mishap/trainer/engine/callback.h>
#include <mishap/trainer/engine/data_module.h>
#include <mishap/trainer/engine/engine.h>
#include <mishap/trainer/engine/logger.h>
#include <mishap/trainer/engine/loggers/csv_logger.h>
#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/engine/tensor_loader.h>
#include <mishap/trainer/harness/guard.h>

#include <filesystem>
#include <vector>

namespace mishap {

/// Makes LibTorch's errors cheap: they carry no backtrace of their own from
/// then on, since records have the stack of the throw. Process-wide and for
/// good, so a program asks for it, once and early.
using collector::quiet_c10_errors;

/// The engine's four entry points, each under a guard that keeps a record of a
/// failure and takes faults at every hook.
///
/// A record goes to `harness.capture.records`; else, in a run inside another
/// one, to where that one's goes; else to MISHAP_RECORDS, else to
/// `options.root_dir`. Every error comes out of the call as the very object
/// that was thrown; SIGINT and SIGTERM come out as mishap::Interrupted.
class Trainer {
 public:
  explicit Trainer(TrainerOptions options = {}, HarnessOptions harness = {});

  /// Trains `module` from the weights it has, or goes on exactly where the fit
  /// was that saved `checkpoint`.
  void fit(Module& module, DataModule& data,
           const std::filesystem::path& checkpoint = {});
  /// What the module logged in its validation steps, reduced. This and the
  /// others below first load the weights of `checkpoint`, if one is given.
  Metrics validate(Module& module, DataModule& data,
                   const std::filesystem::path& checkpoint = {});
  /// What the module logged in its test steps, reduced.
  Metrics test(Module& module, DataModule& data,
               const std::filesystem::path& checkpoint = {});
  /// What predict_step returned for each batch, on the CPU.
  std::vector<torch::Tensor> predict(
      Module& module, DataModule& data,
      const std::filesystem::path& checkpoint = {});

  const TrainerOptions& options() const noexcept { return engine_.options(); }
  HarnessOptions& harness() noexcept { return harness_; }

 private:
  HarnessOptions harness_of_a_call() const;

  Engine engine_;
  HarnessOptions harness_;
};

}  // namespace mishap
