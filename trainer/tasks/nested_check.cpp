#include <mishap/trainer/engine/tensor_loader.h>
#include <mishap/trainer/tasks/nested_check.h>
#include <mishap/trainer/trainer.h>

namespace mishap::tasks {
struct NestedCheck::Parts {
  struct Probe : Module {
    torch::nn::Linear layer = register_module("layer", torch::nn::Linear(2, 1));

    Probe() {
      const torch::NoGradGuard no_grad;
      layer->weight.fill_(0.5);
      layer->bias.zero_();
    }
    void validation_step(const Batch& batch, std::int64_t) override {
      log("probe", layer(batch.data).mean());
    }
  };

  struct ProbeData : DataModule {
    LoaderPtr val_dataloader() override {
      return std::make_unique<TensorLoader>(
          torch::ones({2, 2}), torch::Tensor(), LoaderOptions{.batch_size = 2});
    }
  };

  Probe module;
  ProbeData data;
  Trainer trainer{TrainerOptions{}};
};

NestedCheck::NestedCheck() : parts_(std::make_unique<Parts>()) {}

NestedCheck::~NestedCheck() = default;

void NestedCheck::on_train_epoch_end(Session& session) {
  for (const auto& [name, value] :
       parts_->trainer.validate(parts_->module, parts_->data)) {
    session.log(name, value);
  }
}

}  // namespace mishap::tasks
