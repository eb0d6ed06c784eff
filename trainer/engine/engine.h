#pragma once

#include <mishap/trainer/engine/data_module.h>
#include <mishap/trainer/engine/metrics.h>
#include <mishap/trainer/engine/module.h>
#include <mishap/trainer/engine/options.h>
#include <mishap/trainer/guard/guarded_call.h>

#include <filesystem>
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

  /// Trains `module` from the weights it has, from epoch 0, or goes on exactly
  /// where the fit was that saved `checkpoint`.
  void fit(Module& module, DataModule& data, const GuardOptions& guard = {},
           const std::filesystem::path& checkpoint = {});

  /// What validation_step and its hooks logged, reduced. This and the others
  /// below first load the weights of `checkpoint`, if one is given; the module
  /// keeps them.
  Metrics validate(Module& module, DataModule& data,
                   const GuardOptions& guard = {},
                   const std::filesystem::path& checkpoint = {});

  /// What test_step and its hooks logged, reduced.
  Metrics test(Module& module, DataModule& data, const GuardOptions& guard = {},
               const std::filesystem::path& checkpoint = {});

  /// What predict_step returned for each batch, on the CPU.
  std::vector<torch::Tensor> predict(
      Module& module, DataModule& data, const GuardOptions& guard = {},
      const std::filesystem::path& checkpoint = {});

  const TrainerOptions& options() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mishap
