#pragma once

#include <mishap/trainer/engine/data_module.h>
#include <mishap/trainer/engine/metrics.h>
#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/guard/guarded_call.h>

#include <memory>
#include <vector>

namespace mishap {

/// Runs the loops: four entry points, each one guarded call. Without records
/// and faults of its own; what watches a run comes in `guard`.
///
/// Whatever is wrong, options included, comes out of the entry points, never
/// out of the constructor. An entry point may be called again after any
/// outcome, and from a hook of another one: only fit inside a call of the same
/// engine is refused, and so is a call while another thread is in one.
class Engine {
 public:
  explicit Engine(TrainerOptions options = {});
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Trains `module` from the weights it has, from epoch 0.
  void fit(Module& module, DataModule& data, const GuardOptions& guard = {});

  /// The means of what validation_step and its hooks logged.
  Metrics validate(Module& module, DataModule& data,
                   const GuardOptions& guard = {});

  /// The means of what test_step and its hooks logged.
  Metrics test(Module& module, DataModule& data,
               const GuardOptions& guard = {});

  /// What predict_step returned for each batch, on the CPU.
  std::vector<torch::Tensor> predict(Module& module, DataModule& data,
                                     const GuardOptions& guard = {});

  const TrainerOptions& options() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mishap
