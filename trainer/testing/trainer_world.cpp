#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/faultinject/torch/throw_types.h>
#include <mishap/trainer/harness/torch/torch_checkers.h>
#include <mishap/trainer/testing/check_files.h>
#include <mishap/trainer/testing/check_reuse.h>
#include <mishap/trainer/testing/scribbler.h>
#include <mishap/trainer/testing/trainer_world.h>
#include <torch/torch.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace mishap {

TrainerWorld::TrainerWorld(std::shared_ptr<WorldKind> kind)
    : kind_(std::move(kind)),
      parts_(kind_->make_parts(journal_)),
      callbacks_{std::make_shared<SpyCallback>(journal_, "Spy"),
                 std::make_shared<Scribbler>(journal_)},
      logger_(std::make_shared<SpyLogger>(journal_, "Spy")) {
  TrainerOptions options = *parts_.trainer;
  std::ranges::transform(
      kind_->more(), std::inserter(callbacks_, callbacks_.begin()),
      [&](const CallbackFactory& make) { return make(journal_); });
  options.callbacks.insert(options.callbacks.end(), callbacks_.begin(),
                           callbacks_.end());
  options.loggers.push_back(logger_);
  options.strategy = std::make_shared<SpyStrategy>(journal_);
  trainer_ = std::make_unique<Trainer>(std::move(options));
  if (parts_.keeps) {
    put_old_checkpoint(checkpoints());
  }
  memory_at_start_ = collector::tensor_memory();
}

std::filesystem::path TrainerWorld::checkpoints() const {
  return parts_.trainer->root_dir / "checkpoints";
}

void TrainerWorld::call(std::string_view entry_point,
                        const HarnessOptions& options) {
  trainer_->harness() = options;
  Module& module = *parts_.module;
  DataModule& data = *parts_.data;
  if (entry_point == "fit") {
    trainer_->fit(module, data);
  } else if (entry_point == "validate") {
    trainer_->validate(module, data);
  } else if (entry_point == "test") {
    trainer_->test(module, data);
  } else if (entry_point == "predict") {
    trainer_->predict(module, data);
  } else {
    throw InputError("a trainer has no entry point '" +
                     std::string(entry_point) +
                     "': use fit, validate, test or predict");
  }
}

std::vector<Component> TrainerWorld::components() const {
  std::vector<Component> all = {Component::named("data"),
                                Component::named("module"),
                                Component::named("strategy")};
  for (const auto& callback : callbacks_) {
    all.push_back(callback->component());
  }
  return all;
}

std::vector<Component> TrainerWorld::loggers() const {
  return {logger_->component()};
}

std::vector<std::unique_ptr<Checker>> TrainerWorld::checkers() {
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(check_torch_modes());
  checkers.push_back(check_random_isolation(random_));
  checkers.push_back(check_training_flags(*parts_.module));
  checkers.push_back(check_tensor_memory(*this));
  if (parts_.keeps) {
    checkers.push_back(check_files(checkpoints()));
  }
  checkers.push_back(check_reuse(*this));
  return checkers;
}

TensorsLeft TrainerWorld::tensors_left() const {
  const collector::TensorMemory now = collector::tensor_memory();
  return {now.live_blocks - memory_at_start_.live_blocks,
          now.live_bytes - memory_at_start_.live_bytes};
}

TrainerWorldFactory trainer_worlds(std::shared_ptr<WorldKind> kind) {
  collector::install_counting_allocator();
  faultinject::register_torch_throw_types();
  torch::set_num_threads(1);
  return [kind = std::move(kind)] { return kind->fresh(); };
}

TrainerWorldFactory trainer_worlds(PartsFactory make_parts,
                                   std::vector<CallbackFactory> more) {
  return trainer_worlds(
      std::make_shared<WorldKind>(std::move(make_parts), std::move(more)));
}

const std::vector<std::string>& trainer_entry_points() {
  static const std::vector<std::string> names = {"fit", "validate", "test",
                                                 "predict"};
  return names;
}

}  // namespace mishap
