// A sound task and three with a defect each, which a sweep has to report.
#include <mishap/fault_point.h>
#include <mishap/trainer.h>
#include <mishap/trainer/testing/spied.h>
#include <torch/torch.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace {

enum class Defect { kNone, kThreadLeaked, kErrorSwallowed, kHandlerLeft };

void leave_handler() {
  static bool odd = false;
  odd = !odd;
  std::signal(SIGUSR1, odd ? [](int) {} : SIG_IGN);
}

class Signs : public mishap::Module {
 public:
  explicit Signs(Defect defect) : defect_(defect) {}

  torch::Tensor training_step(const mishap::Batch& batch,
                              std::int64_t) override {
    try {
      MISHAP_FAULT_POINT("signs/forward");
      return torch::mse_loss(out_(batch.data), batch.target);
    } catch (const std::exception&) {
      if (defect_ != Defect::kErrorSwallowed) {
        throw;
      }
      return out_->weight.sum() * 0;
    }
  }

  void on_exception(const mishap::ErrorEvent&) override {
    if (defect_ == Defect::kThreadLeaked) {
      std::thread([] {
        std::this_thread::sleep_for(std::chrono::seconds(2));
      }).detach();
    } else if (defect_ == Defect::kHandlerLeft) {
      leave_handler();
    }
  }

  mishap::Optimizers configure_optimizers() override {
    return torch::optim::SGD(parameters(), 0.1);
  }

 private:
  Defect defect_;
  torch::nn::Linear out_ = register_module("out", torch::nn::Linear(2, 1));
};

class Points : public mishap::DataModule {
 public:
  mishap::LoaderPtr train_dataloader() override {
    const torch::Tensor data = torch::linspace(-1, 1, 8).reshape({4, 2});
    return std::make_unique<mishap::TensorLoader>(
        data, data.sum(1, true).sign(), mishap::LoaderOptions{.batch_size = 2});
  }
};

std::shared_ptr<mishap::TrainerOptions> options() {
  auto options = std::make_shared<mishap::TrainerOptions>();
  options->max_epochs = 2;
  options->seed = 1;
  return options;
}

void register_signs(std::string name, Defect defect) {
  mishap::Task task;
  task.name = std::move(name);
  task.summary = "the sign of a sum";
  task.make = [defect](const mishap::TaskSettings&) {
    return mishap::TaskParts{std::make_shared<Signs>(defect),
                             std::make_shared<Points>(), options()};
  };
  task.make_world = [defect](mishap::Journal& journal,
                             const mishap::TaskSettings&) {
    torch::manual_seed(1);
    return mishap::TaskParts{
        std::make_shared<mishap::Spied<Signs>>(journal, defect),
        std::make_shared<mishap::Spied<Points>>(journal), options()};
  };
  mishap::app::register_task(std::move(task));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    std::printf("hook_is_live %s\n", mishap::hook_is_live() ? "true" : "false");
    return 0;
  }
  register_signs("sound", Defect::kNone);
  register_signs("thread_leaked", Defect::kThreadLeaked);
  register_signs("error_swallowed", Defect::kErrorSwallowed);
  register_signs("handler_left", Defect::kHandlerLeft);
  return mishap::app::main(argc, argv);
}
