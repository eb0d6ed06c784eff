#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <mishap/trainer/harness/torch/torch_checkers.h>
#include <torch/torch.h>

#include <string>
#include <vector>

namespace mishap {
namespace {

struct TorchModes {
  bool grad = false;
  bool inference = false;
  bool anomaly = false;
  bool deterministic = false;
  bool deterministic_warn_only = false;
  bool benchmark = false;
  bool default_is_float = false;
  int threads = 0;
  const c10::WarningHandler* warning_handler = nullptr;

  static TorchModes now() {
    TorchModes modes;
    modes.grad = torch::GradMode::is_enabled();
    modes.inference = c10::InferenceMode::is_enabled();
    modes.anomaly = torch::autograd::AnomalyMode::is_enabled();
    modes.deterministic = at::globalContext().deterministicAlgorithms();
    modes.deterministic_warn_only =
        at::globalContext().deterministicAlgorithmsWarnOnly();
    modes.benchmark = at::globalContext().benchmarkCuDNN();
    modes.default_is_float =
        c10::get_default_dtype() == caffe2::TypeMeta::Make<float>();
    modes.threads = at::get_num_threads();
    modes.warning_handler = c10::Warning::get_warning_handler();
    return modes;
  }
};

class TorchModesKept final : public Checker {
 public:
  Clause clause() const noexcept override { return Clause::kC7; }
  void before() override { before_ = TorchModes::now(); }
  void after() override { after_ = TorchModes::now(); }

  std::optional<std::string> judge(const Observation&) override {
    const auto differs = [](const char* what) {
      return std::string(what) + " is not as before the call";
    };
    if (before_.grad != after_.grad) return differs("grad mode");
    if (before_.inference != after_.inference) {
      return differs("inference mode");
    }
    if (before_.anomaly != after_.anomaly) return differs("anomaly mode");
    if (before_.deterministic != after_.deterministic ||
        before_.deterministic_warn_only != after_.deterministic_warn_only) {
      return differs("the deterministic flag");
    }
    if (before_.benchmark != after_.benchmark) {
      return differs("the benchmark flag");
    }
    if (before_.default_is_float != after_.default_is_float) {
      return differs("the default dtype");
    }
    if (before_.threads != after_.threads) return differs("the thread count");
    if (before_.warning_handler != after_.warning_handler) {
      return differs("the warning handler");
    }
    return std::nullopt;
  }

 private:
  TorchModes before_;
  TorchModes after_;
};

class TrainingFlagsKept final : public Checker {
 public:
  explicit TrainingFlagsKept(const torch::nn::Module& module)
      : module_(module) {}

  Clause clause() const noexcept override { return Clause::kC8; }
  void before() override { before_ = flags(); }
  void after() override { after_ = flags(); }

  std::optional<std::string> judge(const Observation&) override {
    if (before_ != after_) {
      return "a module's training flag is not as before the call";
    }
    return std::nullopt;
  }

 private:
  // A module on the stack has no owner, so modules() can't name the root.
  std::vector<bool> flags() const {
    std::vector<bool> all{module_.is_training()};
    for (const auto& module : module_.modules(/*include_self=*/false)) {
      all.push_back(module->is_training());
    }
    return all;
  }

  const torch::nn::Module& module_;
  std::vector<bool> before_;
  std::vector<bool> after_;
};

}  // namespace

std::unique_ptr<Checker> check_torch_modes() {
  return std::make_unique<TorchModesKept>();
}

std::unique_ptr<Checker> check_training_flags(const torch::nn::Module& module) {
  return std::make_unique<TrainingFlagsKept>(module);
}

}  // namespace mishap
