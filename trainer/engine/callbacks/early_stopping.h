#pragma once

#include <mishap/trainer/engine/callback.h>
#include <mishap/trainer/engine/plateau.h>

#include <cstdint>
#include <optional>
#include <string>

namespace mishap {

/// When a fit ends because a metric no longer gets better; checked when a fit
/// is set up.
struct EarlyStoppingOptions {
  /// A metric that the module logs, named as in Session::metrics().
  std::string monitor = {};
  Better better = Better::kLower;
  /// An improvement is larger than this; absolute, 0 or more.
  double min_delta = 0;
  /// Checks in a row without improvement after which the fit ends; 1 or more.
  std::int64_t patience = 3;
  /// NaN or infinity ends the fit at once. In any case NaN is no improvement.
  bool check_finite = true;
  /// A metric as good as this, or better, ends the fit at once.
  std::optional<double> stopping_threshold = std::nullopt;
  /// A metric worse than this ends the fit at once.
  std::optional<double> divergence_threshold = std::nullopt;
  /// A check without the metric throws InputError; else it is left out.
  bool strict = true;
  /// Check when an epoch of training ends, also for what the training logs.
  /// False: after each validation, or so if the fit does not validate.
  bool on_train_epoch_end = false;
};

/// Ends a fit, as a success, when a metric no longer gets better. The sanity
/// check and the other entry points are not looked at. Each fit starts anew,
/// unless it goes on from a checkpoint.
class EarlyStopping final : public Callback {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options);

  /// The best value so far; infinitely bad before the first.
  double best() const noexcept { return best_; }
  /// Checks in a row without improvement.
  std::int64_t wait() const noexcept { return wait_; }
  /// The epoch in which this callback ended the fit; -1 if it did not.
  std::int64_t stopped_epoch() const noexcept { return stopped_epoch_; }
  /// Why it ended the fit, as a sentence; empty if it did not.
  const std::string& reason() const noexcept { return reason_; }

  bool monitors() const override { return true; }
  /// Throws InputError for options that make no sense.
  void setup(Session& session) override;
  void on_sanity_check_start(Session& session) override;
  /// Throws InputError when the metric is missing.
  void on_validation_end(Session& session) override;
  /// Throws InputError when the metric is missing.
  void on_train_epoch_end(Session& session) override;
  void on_save_checkpoint(Session& session, State& state) override;
  void on_load_checkpoint(Session& session, const State& state) override;

 private:
  void start_anew() noexcept;
  void look(Session& session);
  std::string judge(double value);
  bool is_better(double value, double than) const noexcept;
  bool improves(double value) const noexcept;

  EarlyStoppingOptions options_;
  double best_ = 0;
  std::int64_t wait_ = 0;
  std::int64_t stopped_epoch_ = -1;
  std::string reason_;
  bool validates_ = false;
};

}  // namespace mishap
