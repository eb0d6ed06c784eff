#pragma once

#include <mishap/trainer/engine/batch.h>
#include <mishap/trainer/engine/log_options.h>
#include <mishap/trainer/engine/metric_store.h>
#include <mishap/trainer/engine/metrics.h>
#include <mishap/trainer/engine/state.h>
#include <mishap/trainer/guard/place.h>
#include <mishap/trainer/guard/run.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace mishap {

class Module;
struct TrainerOptions;

/// The parts of a fit that hooks can ask for: made by the engine.
class FitControl {
 public:
  virtual ~FitControl() = default;

  virtual torch::optim::Optimizer& optimizer(std::size_t index) = 0;
  virtual std::size_t optimizers() const = 0;
  virtual std::int64_t batches_in_epoch() const = 0;

  virtual void save_checkpoint(
      std::span<const std::filesystem::path> paths,
      const std::function<void(std::size_t)>& saved) = 0;
  virtual void keep_resume_points() = 0;
  virtual bool can_save() = 0;
  virtual std::int64_t step_to_resume() = 0;
};

/// The moves of manual optimisation, while they are allowed.
class ManualOptimization {
 public:
  virtual ~ManualOptimization() = default;
  virtual void backward(const torch::Tensor& loss) = 0;
  virtual void step(std::size_t optimizer) = 0;
  virtual void zero_grad(std::size_t optimizer) = 0;
};

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

  /// Logs a value of this step or epoch; reduced over the epoch it goes to the
  /// loggers and into metrics(). Throws InputError where no epoch is running.
  void log(std::string_view name, double value, const LogOptions& how = {});
  /// As above for a tensor of one element, which is detached.
  void log(std::string_view name, const torch::Tensor& value,
           const LogOptions& how = {});

  /// What the epochs that have ended gave, the newest of each name.
  const Metrics& metrics() const noexcept { return metrics_; }
  /// What the progress bar shows of the epoch that is running.
  Metrics shown_metrics();

  /// Which of several loaders the batch comes from.
  std::size_t dataloader_index() const noexcept { return dataloader_; }

  // -- of a fit; InputError in another entry point ---------------------------

  /// One of the optimizers, in the order of configure_optimizers.
  torch::optim::Optimizer& optimizer(std::size_t index = 0);

  /// Batches that an epoch trains on; -1 when that is not known.
  std::int64_t batches_in_epoch();

  /// Saves all that a fit needs to go on exactly from here: module, optimizers,
  /// schedulers, loops, callbacks, data, metrics, random numbers, position of
  /// the loader. A reader sees the old file or the complete new one. `saved` is
  /// called when the new one is in place.
  ///
  /// Between the end of a batch and the start of the next that is the place
  /// where the run is; elsewhere it is the last resume point, see
  /// keep_resume_points(). Throws InputError when there is none, FileError when
  /// the file can't be written; then the old one is still there.
  void save_checkpoint(const std::filesystem::path& path,
                       const std::function<void()>& saved = {});
  /// The same checkpoint under several names, made once; `saved` is told the
  /// index of each that is in place.
  void save_checkpoint(std::span<const std::filesystem::path> paths,
                       const std::function<void(std::size_t)>& saved);

  /// From now on the random numbers and metrics after each update are kept, so
  /// that a checkpoint can be saved at any time, after a failure too. Costs
  /// microseconds a step. What hooks behind the last update had still to do,
  /// on_train_batch_end above all, a fit that goes on does not repeat.
  void keep_resume_points();
  /// save_checkpoint() has something to save: the parameters are not half
  /// updated, and there is a point to go on from.
  bool can_save_checkpoint();
  /// The updates that a checkpoint saved now would have.
  std::int64_t step_to_resume();

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
  void publish(const Metrics& metrics);
  void set_dataloader(std::size_t index) noexcept { dataloader_ = index; }
  void set_fit(FitControl* fit) noexcept { fit_ = fit; }
  void set_by_hand(ManualOptimization* moves) noexcept { by_hand_ = moves; }
  /// Throws InputError naming `caller` unless manual optimisation is allowed.
  ManualOptimization& by_hand(std::string_view caller);
  const Batch& hold(Batch batch) noexcept;
  void drop_batch() noexcept;

 private:
  MetricStore& open_store(std::string_view name);
  FitControl& fit(std::string_view caller);

  Run& run_;
  Module& module_;
  const TrainerOptions& options_;
  Session* outer_;
  MetricStore* store_ = nullptr;
  FitControl* fit_ = nullptr;
  ManualOptimization* by_hand_ = nullptr;
  std::size_t dataloader_ = 0;
  Metrics metrics_;
  Batch batch_;
  bool has_batch_ = false;
  bool stopping_ = false;
};

}  // namespace mishap
