#pragma once

#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/trainer/cli_torch/app.h>
#include <mishap/trainer/harness/contract/world.h>
#include <mishap/trainer/testing/scribbler.h>
#include <mishap/trainer/testing/spies.h>
#include <mishap/trainer/trainer.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace mishap {

/// Makes the parts of a world, spied on through the journal.
using PartsFactory = std::function<TaskParts(Journal&)>;

/// Makes one more callback of a world.
using CallbackFactory = std::function<std::shared_ptr<SpyCallback>(Journal&)>;

/// A trainer with a module and data of a task, two spy callbacks, a spy logger
/// and a spy strategy. The second callback is a Scribbler.
class TrainerWorld : public World {
 public:
  /// `more` are further callbacks, put first; their components are told and
  /// torn down like the others.
  explicit TrainerWorld(PartsFactory make_parts,
                        std::vector<CallbackFactory> more = {});

  void call(std::string_view entry_point,
            const HarnessOptions& options) override;
  Journal& journal() override { return journal_; }
  std::vector<Component> components() const override;
  std::vector<Component> loggers() const override;
  std::vector<std::unique_ptr<Checker>> checkers() override;

  SpyCallback& first_callback() noexcept { return *callbacks_.front(); }
  Module& module() noexcept { return *parts_.module; }
  /// Another world like this one.
  std::unique_ptr<TrainerWorld> fresh() const {
    return std::make_unique<TrainerWorld>(make_parts_, more_);
  }
  /// Live tensors when the world had been built.
  const collector::TensorMemory& memory_at_start() const noexcept {
    return memory_at_start_;
  }

 private:
  PartsFactory make_parts_;
  std::vector<CallbackFactory> more_;
  Journal journal_;
  TaskParts parts_;
  RandomMarks random_{journal_};
  std::vector<std::shared_ptr<SpyCallback>> callbacks_;
  std::shared_ptr<SpyLogger> logger_;
  std::unique_ptr<Trainer> trainer_;
  collector::TensorMemory memory_at_start_;
};

/// A factory of worlds of that task, for ContractSubject. Installs the counting
/// allocator and sets LibTorch to one thread.
WorldFactory trainer_worlds(PartsFactory make_parts,
                            std::vector<CallbackFactory> more = {});

/// The four entry points of a trainer.
const std::vector<std::string>& trainer_entry_points();

}  // namespace mishap
