#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/guard/errors.h>

#include <algorithm>
#include <cmath>

namespace mishap {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InputError("TrainerOptions." + what);
}

void at_least(std::int64_t least, const char* name, std::int64_t value) {
  if (value < least) {
    refuse(std::string(name) + " is " + std::to_string(value) + "; give " +
           std::to_string(least) + " or more");
  }
}

void limit(const char* name, const std::optional<std::int64_t>& value) {
  if (value && *value < 0) {
    refuse(std::string(name) + " is " + std::to_string(*value) +
           "; give 0 or more, or leave it unset for no limit");
  }
}

template <class T>
void no_nulls(const char* name, const std::vector<std::shared_ptr<T>>& list) {
  const auto null = std::find(list.begin(), list.end(), nullptr);
  if (null != list.end()) {
    refuse(std::string(name) + "[" + std::to_string(null - list.begin()) +
           "] is null; give an object or leave it out");
  }
}

std::string text(bool value) { return value ? "true" : "false"; }

std::string text(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "none";
}

std::string text(OnNonFinite value) {
  switch (value) {
    case OnNonFinite::kThrow:
      return "throw";
    case OnNonFinite::kWarn:
      return "warn";
    case OnNonFinite::kIgnore:
      return "ignore";
  }
  return "unknown";
}

}  // namespace

void check(const TrainerOptions& options) {
  at_least(0, "max_epochs", options.max_epochs);
  limit("max_steps", options.max_steps);
  limit("limit_train_batches", options.limit_train_batches);
  limit("limit_val_batches", options.limit_val_batches);
  limit("limit_test_batches", options.limit_test_batches);
  limit("limit_predict_batches", options.limit_predict_batches);
  at_least(0, "num_sanity_val_steps", options.num_sanity_val_steps);
  at_least(1, "check_val_every_n_epoch", options.check_val_every_n_epoch);
  at_least(1, "log_every_n_steps", options.log_every_n_steps);
  const std::optional<double> norm = options.gradient_clip_norm;
  if (norm && (!std::isfinite(*norm) || *norm <= 0)) {
    refuse("gradient_clip_norm is " + std::to_string(*norm) +
           "; give a number above 0, or leave it unset for no clipping");
  }
  no_nulls("callbacks", options.callbacks);
  no_nulls("loggers", options.loggers);
}

Hyperparameters describe(const TrainerOptions& options) {
  return {
      {"max_epochs", std::to_string(options.max_epochs)},
      {"max_steps", text(options.max_steps)},
      {"limit_train_batches", text(options.limit_train_batches)},
      {"limit_val_batches", text(options.limit_val_batches)},
      {"limit_test_batches", text(options.limit_test_batches)},
      {"limit_predict_batches", text(options.limit_predict_batches)},
      {"num_sanity_val_steps", std::to_string(options.num_sanity_val_steps)},
      {"check_val_every_n_epoch",
       std::to_string(options.check_val_every_n_epoch)},
      {"log_every_n_steps", std::to_string(options.log_every_n_steps)},
      {"gradient_clip_norm", options.gradient_clip_norm
                                 ? std::to_string(*options.gradient_clip_norm)
                                 : "none"},
      {"device", options.device},
      {"seed", options.seed ? std::to_string(*options.seed) : "none"},
      {"on_non_finite", text(options.on_non_finite)},
      {"deterministic", text(options.deterministic)},
      {"detect_anomaly", text(options.detect_anomaly)},
  };
}

}  // namespace mishap
