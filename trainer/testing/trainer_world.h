#pragma once

#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/trainer/harness/contract/world.h>
#include <mishap/trainer/testing/scribbler.h>
#include <mishap/trainer/testing/spies.h>
#include <mishap/trainer/testing/world_kind.h>
#include <mishap/trainer/trainer.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mishap {

/// A trainer with a module and data of a task, two spy callbacks, a spy logger
/// and a spy strategy. The second callback is a Scribbler.
class TrainerWorld : public World {
 public:
  explicit TrainerWorld(std::shared_ptr<WorldKind> kind);

  void call(std::string_view entry_point,
            const HarnessOptions& options) override;
  Journal& journal() override { return journal_; }
  std::vector<Component> components() const override;
  std::vector<Component> loggers() const override;
  std::vector<std::unique_ptr<Checker>> checkers() override;

  SpyCallback& first_callback() noexcept { return *callbacks_.front(); }
  Module& module() noexcept { return *parts_.module; }
  /// What its trainer was made with, the spies included.
  const TrainerOptions& options() const noexcept { return trainer_->options(); }
  WorldKind& kind() noexcept { return *kind_; }
  /// Tensors alive now beyond those that were when the world had been built.
  TensorsLeft tensors_left() const;

 private:
  /// Where a world with a folder of its own has its checkpoints.
  std::filesystem::path checkpoints() const;

  std::shared_ptr<WorldKind> kind_;
  Journal journal_;
  TaskParts parts_;
  RandomMarks random_{journal_};
  std::vector<std::shared_ptr<SpyCallback>> callbacks_;
  std::shared_ptr<SpyLogger> logger_;
  std::unique_ptr<Trainer> trainer_;
  collector::TensorMemory memory_at_start_;
};

/// Makes worlds of one kind; serves as a WorldFactory too.
using TrainerWorldFactory = std::function<std::unique_ptr<TrainerWorld>()>;

/// A factory of worlds of that kind, for ContractSubject. Installs the counting
/// allocator and sets LibTorch to one thread.
TrainerWorldFactory trainer_worlds(std::shared_ptr<WorldKind> kind);
TrainerWorldFactory trainer_worlds(PartsFactory make_parts,
                                   std::vector<CallbackFactory> more = {});

/// The four entry points of a trainer.
const std::vector<std::string>& trainer_entry_points();

}  // namespace mishap
