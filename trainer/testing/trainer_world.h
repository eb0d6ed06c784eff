#pragma once

#include <mishap/trainer/cli_torch/app.h>
#include <mishap/trainer/harness/contract/world.h>
#include <mishap/trainer/testing/spies.h>
#include <mishap/trainer/trainer.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace mishap {

/// Makes the parts of a world, spied on through the journal.
using PartsFactory = std::function<TaskParts(Journal&)>;

/// A trainer with a module and data of a task, two spy callbacks, a spy logger
/// and a spy strategy. The second callback scribbles: it changes process state
/// that the guard promises to put back.
class TrainerWorld final : public World {
 public:
  explicit TrainerWorld(PartsFactory make_parts);

  void call(std::string_view entry_point,
            const HarnessOptions& options) override;
  Journal& journal() override { return journal_; }
  std::vector<Component> components() const override;
  std::vector<Component> loggers() const override;
  std::vector<std::unique_ptr<Checker>> checkers() override;

  Module& module() noexcept { return *parts_.module; }
  const PartsFactory& make_parts() const noexcept { return make_parts_; }
  /// Memory of live tensors when the world had been built, in bytes.
  std::int64_t bytes_at_start() const noexcept { return bytes_at_start_; }

 private:
  PartsFactory make_parts_;
  Journal journal_;
  TaskParts parts_;
  std::shared_ptr<SpyCallback> first_;
  std::shared_ptr<SpyCallback> second_;
  std::shared_ptr<SpyLogger> logger_;
  std::unique_ptr<Trainer> trainer_;
  std::int64_t bytes_at_start_ = 0;
};

/// A factory of worlds of that task, for ContractSubject.
WorldFactory trainer_worlds(PartsFactory make_parts);

/// The four entry points of a trainer.
const std::vector<std::string>& trainer_entry_points();

}  // namespace mishap
