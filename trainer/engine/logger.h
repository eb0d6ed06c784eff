#pragma once

#include <mishap/trainer/engine/metrics.h>
#include <mishap/trainer/guard/place.h>
#include <mishap/trainer/guard/words.h>

#include <string>
#include <utility>
#include <vector>

namespace mishap {

/// Name and value of each option of a run.
using Hyperparameters = std::vector<std::pair<std::string, std::string>>;

/// Keeps what runs log.
class Logger {
 public:
  virtual ~Logger() = default;

  /// Replaces the class in the component's name `logger.<Class>`. Letters,
  /// digits and _ . : # - only.
  virtual std::string name() const { return {}; }

  /// Opens whatever the logger writes to; first of all its hooks in a run.
  virtual void experiment() {}
  /// Once at the start of a fit.
  virtual void log_hyperparams(const Hyperparameters&) {}
  /// `place` tells stage, epoch and step. A batch of -1 marks the means of an
  /// epoch.
  virtual void log_metrics(const Metrics&, const Place& /*place*/) {}
  /// Makes durable what was logged.
  virtual void save() {}
  /// Once for every run whose experiment() began.
  virtual void finalize(FinalWord) {}
};

}  // namespace mishap
