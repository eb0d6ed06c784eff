#include <mishap/trainer/engine/callbacks/early_stopping.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/guard/errors.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace mishap {
namespace {

std::string stopping_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

void check_stopping(const EarlyStoppingOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw InputError("EarlyStoppingOptions." + what);
  };
  if (options.monitor.empty()) {
    refuse("monitor is empty; name a metric that the module logs");
  }
  if (!(options.min_delta >= 0 && std::isfinite(options.min_delta))) {
    refuse("min_delta is " + stopping_number(options.min_delta) +
           "; give 0 or more");
  }
  if (options.patience < 1) {
    refuse("patience is " + std::to_string(options.patience) +
           "; give 1 check or more");
  }
  if (options.stopping_threshold && std::isnan(*options.stopping_threshold)) {
    refuse("stopping_threshold is NaN; give a number or leave it out");
  }
  if (options.divergence_threshold &&
      std::isnan(*options.divergence_threshold)) {
    refuse("divergence_threshold is NaN; give a number or leave it out");
  }
}

std::string missing_metric(const std::string& monitor, const Metrics& metrics) {
  std::string names;
  for (const auto& [name, value] : metrics) {
    names += (names.empty() ? "\"" : ", \"") + name + '"';
  }
  return "EarlyStopping monitors \"" + monitor +
         "\", which was not logged; there " +
         (names.empty() ? "are no metrics" : "is " + names) +
         " so far: monitor one of these, log it, set on_train_epoch_end for "
         "what the training logs, or set strict to false";
}

}  // namespace

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)) {
  start_anew();
}

void EarlyStopping::start_anew() noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  best_ = options_.better == Better::kLower ? kInfinity : -kInfinity;
  wait_ = 0;
  stopped_epoch_ = -1;
  reason_.clear();
  validates_ = false;
}

void EarlyStopping::setup(Session& session) {
  check_stopping(options_);
  // An evaluation inside a hook of a fit sets the callback up too.
  if (session.entry_point() == "fit") {
    start_anew();
  }
}

void EarlyStopping::on_sanity_check_start(Session&) { validates_ = true; }

void EarlyStopping::on_validation_end(Session& session) {
  if (session.entry_point() != "fit" ||
      session.place().stage == Stage::kSanityCheck) {
    return;
  }
  validates_ = true;
  if (!options_.on_train_epoch_end) {
    look(session);
  }
}

void EarlyStopping::on_train_epoch_end(Session& session) {
  const TrainerOptions& fit = session.options();
  // A validation that was due and did not come never will.
  const bool was_due =
      (session.place().epoch + 1) % fit.check_val_every_n_epoch == 0;
  const bool never_validates =
      !validates_ && (was_due || (fit.limit_val_batches.has_value() &&
                                  fit.limit_val_batches->is_none()));
  if (options_.on_train_epoch_end || never_validates) {
    look(session);
  }
}

void EarlyStopping::look(Session& session) {
  const auto found = session.metrics().find(options_.monitor);
  if (found == session.metrics().end()) {
    if (options_.strict) {
      throw InputError(missing_metric(options_.monitor, session.metrics()));
    }
    return;
  }
  std::string reason = judge(found->second);
  if (!reason.empty()) {
    reason_ = std::move(reason);
    stopped_epoch_ = session.place().epoch;
    session.stop();
  }
}

std::string EarlyStopping::judge(double value) {
  const std::string what =
      '"' + options_.monitor + "\" is " + stopping_number(value);
  if (options_.check_finite && !std::isfinite(value)) {
    return what + ", which is not finite.";
  }
  if (improves(value)) {
    best_ = value;
    wait_ = 0;
  } else {
    ++wait_;
  }
  const std::optional<double>& good = options_.stopping_threshold;
  if (good && (is_better(value, *good) || value == *good)) {
    return what + ", which reaches the threshold " + stopping_number(*good) +
           '.';
  }
  const std::optional<double>& bad = options_.divergence_threshold;
  if (bad && is_better(*bad, value)) {
    return what + ", which is worse than " + stopping_number(*bad) + '.';
  }
  if (wait_ >= options_.patience) {
    return '"' + options_.monitor + "\" did not get better than " +
           stopping_number(best_) + " in " + std::to_string(wait_) +
           " checks in a row.";
  }
  return {};
}

bool EarlyStopping::is_better(double value, double than) const noexcept {
  return options_.better == Better::kLower ? value < than : value > than;
}

bool EarlyStopping::improves(double value) const noexcept {
  return options_.better == Better::kLower ? value < best_ - options_.min_delta
                                           : value > best_ + options_.min_delta;
}

void EarlyStopping::on_save_checkpoint(Session&, State& state) {
  state.set("best", best_);
  state.set("wait", wait_);
  state.set("stopped_epoch", stopped_epoch_);
  state.set("reason", reason_);
  state.set("validates", validates_);
}

void EarlyStopping::on_load_checkpoint(Session&, const State& state) {
  const double best = state.number("best");
  const std::int64_t wait = state.integer("wait");
  const std::int64_t stopped_epoch = state.integer("stopped_epoch");
  std::string reason = state.text("reason");
  validates_ = state.flag("validates");
  best_ = best;
  wait_ = wait;
  stopped_epoch_ = stopped_epoch;
  reason_ = std::move(reason);
}

}  // namespace mishap
