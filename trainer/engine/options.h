#pragma once

#include <mishap/trainer/engine/callback.h>
#include <mishap/trainer/engine/logger.h>
#include <mishap/trainer/engine/strategy.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mishap {

/// What to do about a loss that is NaN or infinite.
enum class OnNonFinite : std::uint8_t { kThrow, kWarn, kIgnore };

/// How a trainer trains. Every value is checked when an entry point is called,
/// none before.
///
///     mishap::Trainer trainer({.max_epochs = 3, .seed = 1});
struct TrainerOptions {
  /// Passes over the training data; 0 trains nothing.
  std::int64_t max_epochs = 1000;
  /// Optimizer steps after which fit ends; no limit when unset.
  std::optional<std::int64_t> max_steps = std::nullopt;

  /// Batches of a pass; all when unset, 0 leaves the loop out.
  std::optional<std::int64_t> limit_train_batches = std::nullopt;
  std::optional<std::int64_t> limit_val_batches = std::nullopt;
  std::optional<std::int64_t> limit_test_batches = std::nullopt;
  std::optional<std::int64_t> limit_predict_batches = std::nullopt;

  /// Validation batches that fit runs before it trains, so that a mistake there
  /// is found at once; 0 leaves the check out. Draws no random numbers from
  /// the training that follows.
  std::int64_t num_sanity_val_steps = 2;
  /// Fit validates after each so many epochs.
  std::int64_t check_val_every_n_epoch = 1;
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
  /// SingleDevice when unset.
  std::shared_ptr<Strategy> strategy = nullptr;
  /// Where runs keep their files.
  std::filesystem::path root_dir = ".";
};

/// Throws InputError naming the first option that makes no sense.
void check(const TrainerOptions& options);

/// Name and value of each option, for loggers and records.
Hyperparameters describe(const TrainerOptions& options);

}  // namespace mishap
