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

void limit(const char* name, const std::optional<BatchLimit>& value) {
  if (value && !value->problem().empty()) {
    refuse(std::string(name) + ' ' + value->problem());
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

std::string text(const std::optional<BatchLimit>& value) {
  return value ? value->text() : "none";
}

std::string text(const std::optional<std::chrono::nanoseconds>& value) {
  return value ? std::to_string(std::chrono::duration<double>(*value).count()) +
                     " s"
               : "none";
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
  if (options.max_steps) {
    at_least(0, "max_steps", *options.max_steps);
  }
  if (options.max_time &&
      *options.max_time < std::chrono::nanoseconds::zero()) {
    refuse("max_time is " + text(options.max_time) +
           "; give 0 or more, or leave it unset for no limit");
  }
  limit("limit_train_batches", options.limit_train_batches);
  limit("limit_val_batches", options.limit_val_batches);
  limit("limit_test_batches", options.limit_test_batches);
  limit("limit_predict_batches", options.limit_predict_batches);
  limit("val_check_interval", options.val_check_interval);
  if (options.val_check_interval && options.val_check_interval->is_none()) {
    refuse("val_check_interval is 0; give 1 or more, or leave it unset");
  }
  at_least(0, "fast_dev_run", options.fast_dev_run);
  at_least(1, "accumulate_grad_batches", options.accumulate_grad_batches);
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

TrainerOptions effective(TrainerOptions options) {
  if (options.fast_dev_run <= 0) {
    return options;
  }
  const BatchLimit few = options.fast_dev_run;
  options.max_epochs = 1;
  options.max_steps = options.fast_dev_run;
  for (std::optional<BatchLimit>* const limit :
       {&options.limit_train_batches, &options.limit_val_batches,
        &options.limit_test_batches, &options.limit_predict_batches}) {
    // What is left out stays left out.
    if (!*limit || !(*limit)->is_none()) {
      *limit = few;
    }
  }
  options.num_sanity_val_steps = 0;
  options.check_val_every_n_epoch = 1;
  options.val_check_interval.reset();
  options.signal_checkpoint.reset();
  options.loggers.clear();
  return options;
}

Hyperparameters describe(const TrainerOptions& options) {
  return {
      {"max_epochs", std::to_string(options.max_epochs)},
      {"max_steps", text(options.max_steps)},
      {"max_time", text(options.max_time)},
      {"limit_train_batches", text(options.limit_train_batches)},
      {"limit_val_batches", text(options.limit_val_batches)},
      {"limit_test_batches", text(options.limit_test_batches)},
      {"limit_predict_batches", text(options.limit_predict_batches)},
      {"fast_dev_run", std::to_string(options.fast_dev_run)},
      {"val_check_interval", text(options.val_check_interval)},
      {"accumulate_grad_batches",
       std::to_string(options.accumulate_grad_batches)},
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
