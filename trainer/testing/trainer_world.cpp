#include <ATen/Context.h>
#include <mishap/collector/torch/tensor_memory.h>
#include <mishap/trainer/harness/torch/torch_checkers.h>
#include <mishap/trainer/testing/check_reuse.h>
#include <mishap/trainer/testing/trainer_world.h>
#include <torch/torch.h>

#include <utility>

namespace mishap {
namespace {

// A user whose callback draws random numbers in the sanity check and leaves a
// flag of LibTorch switched on.
class Scribbler final : public SpyCallback {
 public:
  explicit Scribbler(Journal& journal) : SpyCallback(journal, "Scribbler") {}

 protected:
  void note(Hook hook) override {
    SpyCallback::note(hook);
    if (hook == Hook::kOnValidationBatchStart) {
      torch::rand({1});
    } else if (hook == Hook::kSetup) {
      at::globalContext().setBenchmarkCuDNN(
          !at::globalContext().benchmarkCuDNN());
      torch::GradMode::set_enabled(true);
      at::globalContext().setDeterministicAlgorithms(true, true);
    }
  }
};

}  // namespace

TrainerWorld::TrainerWorld(PartsFactory make_parts)
    : make_parts_(std::move(make_parts)),
      parts_(make_parts_(journal_)),
      first_(std::make_shared<SpyCallback>(journal_, "Spy")),
      second_(std::make_shared<Scribbler>(journal_)),
      logger_(std::make_shared<SpyLogger>(journal_, "Spy")) {
  TrainerOptions options = *parts_.trainer;
  options.callbacks.push_back(first_);
  options.callbacks.push_back(second_);
  options.loggers.push_back(logger_);
  options.strategy = std::make_shared<SpyStrategy>(journal_);
  trainer_ = std::make_unique<Trainer>(std::move(options));
  bytes_at_start_ = collector::tensor_memory().live_bytes;
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
  return {first_->component(), second_->component(), Component::named("data"),
          Component::named("module"), Component::named("strategy")};
}

std::vector<Component> TrainerWorld::loggers() const {
  return {logger_->component()};
}

std::vector<std::unique_ptr<Checker>> TrainerWorld::checkers() {
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(check_torch_modes());
  checkers.push_back(check_training_flags(*parts_.module));
  checkers.push_back(check_tensor_memory(*this));
  checkers.push_back(check_reuse(*this));
  return checkers;
}

WorldFactory trainer_worlds(PartsFactory make_parts) {
  collector::install_counting_allocator();
  torch::set_num_threads(1);
  return [make_parts = std::move(make_parts)]() -> std::unique_ptr<World> {
    return std::make_unique<TrainerWorld>(make_parts);
  };
}

const std::vector<std::string>& trainer_entry_points() {
  static const std::vector<std::string> names = {"fit", "validate", "test",
                                                 "predict"};
  return names;
}

}  // namespace mishap
