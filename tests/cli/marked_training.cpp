// A user's own program: a task of his under our command line. Its components
// mark what becomes of them.
#include <mishap/trainer.h>

#include <memory>
#include <string>
#include <string_view>

#include "marks.h"

namespace {

using mishap::testing::mark;

struct MarkedModule : mishap::Module {
  torch::nn::Linear line = register_module("line", torch::nn::Linear(4, 2));

  void prepare_data() override { mark("begin module"); }
  void setup(std::string_view) override { mark("begin module"); }
  void teardown() override { mark("teardown module"); }

  torch::Tensor training_step(const mishap::Batch& batch,
                              std::int64_t) override {
    const torch::Tensor loss =
        torch::cross_entropy_loss(line(batch.data), batch.target);
    log("loss", loss);
    return loss;
  }
  void validation_step(const mishap::Batch& batch, std::int64_t i) override {
    training_step(batch, i);
  }
  mishap::Optimizers configure_optimizers() override {
    return torch::optim::SGD(parameters(), 0.1);
  }
};

struct MarkedData : mishap::DataModule {
  void prepare_data() override { mark("begin data"); }
  void setup(std::string_view) override { mark("begin data"); }
  void teardown() override { mark("teardown data"); }

  mishap::LoaderPtr train_dataloader() override {
    return std::make_unique<mishap::TensorLoader>(
        torch::ones({8, 4}), torch::zeros({8}, torch::kLong),
        mishap::LoaderOptions{.batch_size = 2});
  }
  mishap::LoaderPtr val_dataloader() override { return train_dataloader(); }
};

struct MarkedCallback : mishap::Callback {
  void setup(mishap::Session&) override { mark("begin callback"); }
  void teardown(mishap::Session&) override { mark("teardown callback"); }
};

}  // namespace

int main(int argc, char** argv) {
  mishap::Task task;
  task.name = "marked";
  task.summary = "components that mark what becomes of them";
  task.make = [](const mishap::TaskSettings&) {
    auto options = std::make_shared<mishap::TrainerOptions>();
    options->max_epochs = 2;
    options->callbacks = {std::make_shared<MarkedCallback>()};
    return mishap::TaskParts{std::make_shared<MarkedModule>(),
                             std::make_shared<MarkedData>(), options};
  };
  mishap::app::register_task(std::move(task));
  return mishap::app::main(argc, argv);
}
