#pragma once

#include <mishap/trainer/engine/batch_limit.h>
#include <mishap/trainer/engine/callback.h>
#include <mishap/trainer/engine/logger.h>
#include <mishap/trainer/engine/strategy.h>
#include <mishap/trainer/guard/file_store.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mishap {

/// What to do about a loss that is NaN or infinite.
enum class OnNonFinite : std::uint8_t { kThrow, kWarn, kIgnore };

/// What becomes of a run whose logger throws.
enum class OnLoggerError : std::uint8_t { kThrow, kWarn };

/// How a trainer trains. Every value is checked when an entry point is called,
/// none before.
///
///     mishap::Trainer trainer({.max_epochs = 3, .seed = 1});
struct TrainerOptions {
  /// Passes over the training data; 0 trains nothing.
  std::int64_t max_epochs = 1000;
  /// Optimizer steps after which fit ends; no limit when unset.
  std::optional<std::int64_t> max_steps = std::nullopt;
  /// Time after which fit ends, as a success, when its batch is done; what was
  /// spent before a resume counts. No limit when unset.
  std::optional<std::chrono::nanoseconds> max_time = std::nullopt;

  /// Batches of a pass, or a share of it; all when unset, 0 leaves the loop
  /// out.
  std::optional<BatchLimit> limit_train_batches = std::nullopt;
  std::optional<BatchLimit> limit_val_batches = std::nullopt;
  std::optional<BatchLimit> limit_test_batches = std::nullopt;
  std::optional<BatchLimit> limit_predict_batches = std::nullopt;
  /// Runs so many batches of everything, one epoch, without sanity check,
  /// loggers and checkpoints: a quick look whether all hooks work. 0 is off.
  std::int64_t fast_dev_run = 0;

  /// Validation batches that fit runs before it trains, so that a mistake there
  /// is found at once; 0 leaves the check out. Draws no random numbers from
  /// the training that follows.
  std::int64_t num_sanity_val_steps = 2;
  /// Fit validates after each so many epochs.
  std::int64_t check_val_every_n_epoch = 1;
  /// Fit also validates inside an epoch, after each so many of its batches, or
  /// after each such share of it. Unset: at its end only.
  std::optional<BatchLimit> val_check_interval = std::nullopt;
  /// Batches whose gradients are averaged before an update; the last update of
  /// an epoch may have fewer.
  std::int64_t accumulate_grad_batches = 1;
  /// Metrics of single steps go to the loggers each so many steps.
  std::int64_t log_every_n_steps = 50;

  /// Scales the gradients down to this norm, if they are larger.
  std::optional<double> gradient_clip_norm = std::nullopt;
  /// "cpu", "cuda", "cuda:1", or "auto".
  std::string device = "cpu";
  /// Seeds LibTorch's generators when fit starts, and through them the order of
  /// the data. Unset leaves them as they are.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// kThrow fails the run with NonFinite before the backward pass. On an
  /// accelerator the loss is looked at every log_every_n_steps only.
  OnNonFinite on_non_finite = OnNonFinite::kThrow;
  /// Makes operators without a deterministic form fail, while a call runs.
  bool deterministic = false;
  /// Turns autograd's anomaly mode on while fit trains; slow.
  bool detect_anomaly = false;

  std::vector<std::shared_ptr<Callback>> callbacks = {};
  std::vector<std::shared_ptr<Logger>> loggers = {};
  /// kThrow: a logger that throws, at whatever call, fails the run like any
  /// other component. kWarn: it is warned of once, the logger is left out for
  /// the rest of the run but for finalize(), and the run goes on.
  OnLoggerError on_logger_error = OnLoggerError::kThrow;
  /// SingleDevice when unset.
  std::shared_ptr<Strategy> strategy = nullptr;
  /// Where runs keep their files.
  std::filesystem::path root_dir = ".";
  /// A signal, such as SIGUSR1, at which fit saves `signal.ckpt` in root_dir at
  /// its next safe point and goes on.
  std::optional<int> signal_checkpoint = std::nullopt;
  /// Through which checkpoints are written and read; the file system when
  /// unset.
  std::shared_ptr<FileStore> store = nullptr;
};

/// Throws InputError naming the first option that makes no sense.
void check(const TrainerOptions& options);

/// What the options come to when fast_dev_run is on; else the same.
TrainerOptions effective(TrainerOptions options);

/// Name and value of each option, for loggers and records.
Hyperparameters describe(const TrainerOptions& options);

}  // namespace mishap
