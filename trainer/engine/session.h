#pragma once

#include <mishap/trainer/engine/batch.h>
#include <mishap/trainer/engine/metric_store.h>
#include <mishap/trainer/engine/metrics.h>
#include <mishap/trainer/guard/place.h>
#include <mishap/trainer/guard/run.h>

#include <string_view>

namespace mishap {

class Module;
struct TrainerOptions;

/// One call of fit, validate, test or predict as callbacks see it. Lives as
/// long as the call; used by its thread only.
class Session {
 public:
  Session(Run& run, Module& module, const TrainerOptions& options) noexcept;
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The innermost call on this thread, or null.
  static Session* current() noexcept;

  Module& module() noexcept { return module_; }
  const TrainerOptions& options() const noexcept { return options_; }
  std::string_view entry_point() const noexcept { return run_.entry_point(); }
  /// Stage, epoch, batch and step.
  const Place& place() const noexcept { return run_.place(); }
  Run& run() noexcept { return run_; }

  /// Logs a value of this step or epoch; its mean over the epoch goes to the
  /// loggers and into metrics(). Throws InputError where no epoch is running.
  void log(std::string_view name, double value);
  /// As above for a tensor of one element, which is detached.
  void log(std::string_view name, const torch::Tensor& value);

  /// The means of the epochs that have ended, the newest of each name.
  const Metrics& metrics() const noexcept { return metrics_; }

  /// Ends the fit after this batch and the end of its epoch, as a success.
  void stop() noexcept { stopping_ = true; }
  bool stopping() const noexcept { return stopping_; }

  /// The batch that is being worked on, also while its failure is handled;
  /// null between batches.
  const Batch* batch() const noexcept { return has_batch_ ? &batch_ : nullptr; }

  // -- for the engine -------------------------------------------------------

  /// Collects into `store` from now on; null refuses to log.
  void collect_into(MetricStore* store) noexcept { store_ = store; }
  MetricStore* store() noexcept { return store_; }
  /// Another call on this thread, further out, works on that module.
  bool is_inside_call_of(const Module& module) const noexcept;
  void publish(const Metrics& means);
  const Batch& hold(Batch batch) noexcept;
  void drop_batch() noexcept;

 private:
  MetricStore& open_store(std::string_view name);

  Run& run_;
  Module& module_;
  const TrainerOptions& options_;
  Session* outer_;
  MetricStore* store_ = nullptr;
  Metrics metrics_;
  Batch batch_;
  bool has_batch_ = false;
  bool stopping_ = false;
};

}  // namespace mishap
