// Tells two clouds of points apart, with a module, data and a callback of one's
// own: `own_module` trains, `own_module sweep blobs` proves the cleanup.
#include <mishap/fault_point.h>
#include <mishap/trainer.h>
#include <mishap/trainer/testing/spied.h>
#include <torch/torch.h>

#include <cstdint>
#include <iostream>
#include <memory>

namespace {

class Blobs : public mishap::Module {
 public:
  torch::Tensor forward(const torch::Tensor& points) {
    MISHAP_FAULT_POINT("blobs/forward");
    return out_(torch::tanh(hidden_(points)));
  }

  torch::Tensor training_step(const mishap::Batch& batch,
                              std::int64_t) override {
    const torch::Tensor loss =
        torch::cross_entropy_loss(forward(batch.data), batch.target);
    log("train/loss", loss);
    return loss;
  }

  void validation_step(const mishap::Batch& batch, std::int64_t) override {
    log("val/accuracy", accuracy(batch));
  }

  void test_step(const mishap::Batch& batch, std::int64_t) override {
    log("test/accuracy", accuracy(batch));
  }

  torch::Tensor predict_step(const mishap::Batch& batch,
                             std::int64_t) override {
    return forward(batch.data).argmax(1);
  }

  mishap::Optimizers configure_optimizers() override {
    return torch::optim::Adam(parameters(), 0.05);
  }

 private:
  torch::Tensor accuracy(const mishap::Batch& batch) {
    return (forward(batch.data).argmax(1) == batch.target)
        .to(torch::kFloat)
        .mean();
  }

  torch::nn::Linear hidden_ =
      register_module("hidden", torch::nn::Linear(2, 8));
  torch::nn::Linear out_ = register_module("out", torch::nn::Linear(8, 2));
};

class BlobData : public mishap::DataModule {
 public:
  explicit BlobData(std::int64_t points, std::int64_t batch_size)
      : points_(points), batch_size_(batch_size) {}

  void setup(std::string_view) override {
    target_ = torch::arange(points_) % 2;
    data_ = torch::linspace(-1, 1, points_ * 2).reshape({points_, 2}) * 0.3 +
            (target_ * 2 - 1).unsqueeze(1);
  }
  void teardown() override { data_ = target_ = torch::Tensor(); }

  mishap::LoaderPtr train_dataloader() override { return load(true); }
  mishap::LoaderPtr val_dataloader() override { return load(false); }
  mishap::LoaderPtr test_dataloader() override { return load(false); }
  mishap::LoaderPtr predict_dataloader() override { return load(false); }

 private:
  mishap::LoaderPtr load(bool shuffle) const {
    return std::make_unique<mishap::TensorLoader>(
        data_, target_,
        mishap::LoaderOptions{.batch_size = batch_size_, .shuffle = shuffle});
  }

  std::int64_t points_;
  std::int64_t batch_size_;
  torch::Tensor data_;
  torch::Tensor target_;
};

class SaysWhereItFailed : public mishap::Callback {
 public:
  void on_exception(const mishap::ErrorEvent& event) override {
    std::cerr << "stopped in " << to_string(event.place.hook) << " of "
              << event.place.component.name() << '\n';
  }
};

mishap::Task blobs_task() {
  mishap::Task task;
  task.name = "blobs";
  task.summary = "two clouds of points";
  task.make = [](const mishap::TaskSettings&) {
    auto options = std::make_shared<mishap::TrainerOptions>();
    options->max_epochs = 5;
    options->seed = 1;
    options->callbacks = {std::make_shared<SaysWhereItFailed>()};
    return mishap::TaskParts{std::make_shared<Blobs>(),
                             std::make_shared<BlobData>(200, 20), options};
  };
  task.make_world = [](mishap::Journal& journal, const mishap::TaskSettings&) {
    torch::manual_seed(1);
    auto options = std::make_shared<mishap::TrainerOptions>();
    options->max_epochs = 2;
    options->limit_val_batches = 1;
    options->num_sanity_val_steps = 1;
    options->seed = 1;
    return mishap::TaskParts{
        std::make_shared<mishap::Spied<Blobs>>(journal),
        std::make_shared<mishap::Spied<BlobData>>(journal, 4, 2), options};
  };
  return task;
}

}  // namespace

int main(int argc, char** argv) {
  mishap::app::register_task(blobs_task());
  if (argc > 1) {
    return mishap::app::main(argc, argv);
  }
  return mishap::guarded_main(argc, argv, [] {
    const auto faults = mishap::arm_from_environment();
    mishap::Trainer trainer({.max_epochs = 5, .seed = 1});
    Blobs module;
    BlobData data(200, 20);
    trainer.fit(module, data);
    const mishap::Metrics metrics = trainer.test(module, data);
    std::cout << "test/accuracy " << metrics.at("test/accuracy") << '\n';
  });
}
