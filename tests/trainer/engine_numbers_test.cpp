#include <cmath>
#include <limits>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

struct Failed {
  std::exception_ptr error;
  Place place;
};

Failed fit_fails(TinyModule& module, TinyData& data,
                 TrainerOptions options = {}) {
  const auto spy = std::make_shared<SpyCallback>();
  options.callbacks = {spy};
  options.num_sanity_val_steps = 0;
  options.max_epochs = 1;
  Failed failed;
  failed.error = caught([&] { Engine(options).fit(module, data); });
  failed.place = spy->calls.place;
  EXPECT_TRUE(failed.error);
  EXPECT_EQ(spy->calls.error, failed.error);
  return failed;
}

template <class Error>
void expect_error(const Failed& failed, const std::string& text) {
  EXPECT_THROW(std::rethrow_exception(failed.error), Error);
  EXPECT_THAT(message_of(failed.error), testing::HasSubstr(text));
}

TEST(EngineNumbersTest, A1ShapeMismatchInForwardNamesTheEntryPointsStage) {
  TinyWorld world;
  world.data.images = torch::rand({4, 5});
  Engine engine(world.options());
  const std::map<std::string, Stage> stages = {{"fit", Stage::kSanityCheck},
                                               {"validate", Stage::kValidate},
                                               {"test", Stage::kTest},
                                               {"predict", Stage::kPredict}};
  for (const auto& [name, call] : entry_points()) {
    const auto error = caught([&] { call(engine, world, {}); });
    EXPECT_THROW(std::rethrow_exception(error), c10::Error);
    EXPECT_THAT(message_of(error), testing::HasSubstr("cannot be multiplied"));
    EXPECT_EQ(world.first->calls.place.stage, stages.at(name));
    EXPECT_EQ(world.first->calls.entry_point, name);
  }
}

TEST(EngineNumbersTest, A2LabelsOfAnotherBatchSizeKeepTheirSubclass) {
  struct MoreLabels : TinyModule {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      return torch::cross_entropy_loss(
          out(hidden(batch.data)), torch::cat({batch.target, batch.target}));
    }
  } module;
  TinyData data;
  const Failed failed = fit_fails(module, data);
  expect_error<c10::ValueError>(failed, "to match target batch_size");
  EXPECT_EQ(failed.place.batch, 0);
}

TEST(EngineNumbersTest, A3LabelOutOfRangeFailsAlikeInFitAndValidate) {
  TinyModule module;
  TinyData data;
  data.labels = torch::tensor({0, 1, 1, 7}, torch::kInt64);
  data.options.shuffle = false;
  expect_error<c10::IndexError>(fit_fails(module, data), "out of bounds");
  Engine engine;
  EXPECT_THROW(engine.validate(module, data), c10::IndexError);
}

TEST(EngineNumbersTest, A4LabelOfTheWrongTypeIsToldInLibTorchsWords) {
  TinyModule module;
  TinyData data;
  data.labels = data.labels.to(torch::kFloat32);
  expect_error<c10::Error>(fit_fails(module, data),
                           "expected scalar type Long");
}

TEST(EngineNumbersTest, A7LossThatIsNotFiniteFailsBeforeTheUpdate) {
  struct TurnsBad : TinyModule {
    torch::Tensor training_step(const Batch& batch,
                                std::int64_t index) override {
      return loss_of(batch) * (index == 1 ? value : 1.0);
    }
    double value = std::nan("");
  } module;
  TinyData data;
  const Failed failed = fit_fails(module, data);
  expect_error<NonFinite>(failed, "NaN");
  EXPECT_EQ(failed.place.hook, Hook::kTrainingStep);
  EXPECT_EQ(failed.place.batch, 1);
  EXPECT_EQ(failed.place.step, 1);
  EXPECT_TRUE(torch::isfinite(weights_of(module)).all().item<bool>());
  module.value = std::numeric_limits<double>::infinity();
  expect_error<NonFinite>(fit_fails(module, data), "infinite");
  TrainerOptions options;
  options.max_epochs = 1;
  options.on_non_finite = OnNonFinite::kIgnore;
  Engine(options).fit(module, data);
  EXPECT_FALSE(torch::isfinite(weights_of(module)).all().item<bool>());
}

TEST(EngineNumbersTest, LossThatIsNotFiniteMayBeWarnedOf) {
  struct Nan : TinyModule {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      return loss_of(batch) * std::nan("");
    }
  } module;
  TinyData data;
  TrainerOptions options;
  options.max_epochs = 1;
  options.num_sanity_val_steps = 0;
  options.limit_train_batches = 1;
  options.on_non_finite = OnNonFinite::kWarn;
  testing::internal::CaptureStderr();
  Engine(options).fit(module, data);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("the loss is nan at step 0"));
}

TEST(EngineNumbersTest, A8AnomalyModeNamesTheFunctionAndIsOffAgain) {
  struct Anomalous : TinyModule {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      return torch::sqrt(loss_of(batch) * 0.0 - 1.0) * 0.0;
    }
  } module;
  TinyData data;
  TrainerOptions options;
  options.detect_anomaly = true;
  options.on_non_finite = OnNonFinite::kIgnore;
  const Failed failed = fit_fails(module, data, options);
  expect_error<std::runtime_error>(failed, "SqrtBackward0");
  EXPECT_EQ(failed.place.hook, Hook::kBackward);
  EXPECT_FALSE(torch::autograd::AnomalyMode::is_enabled());
}

TEST(EngineNumbersTest, A9BatchNormFailsOnALastBatchOfOneInFitOnly) {
  struct Normalised : TinyModule {
    torch::nn::BatchNorm1d norm =
        register_module("norm", torch::nn::BatchNorm1d(3));
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      return out(hidden(norm(batch.data))).sum();
    }
    void validation_step(const Batch& batch, std::int64_t) override {
      log("norm", norm(batch.data).sum());
    }
  } module;
  TinyData data;
  data.options.batch_size = 3;
  const Failed failed = fit_fails(module, data);
  expect_error<c10::Error>(failed, "more than 1 value per channel");
  EXPECT_EQ(failed.place.batch, 1);
  EXPECT_EQ(Engine().validate(module, data).count("norm"), 1U);
}

TEST(EngineNumbersTest, A10EmptyDataSetIsNoSuccess) {
  TinyWorld world;
  world.data.images = torch::empty({0, 3});
  world.data.labels = torch::empty({0}, torch::kInt64);
  Engine engine(world.options());
  for (const auto& [name, call] : entry_points()) {
    const auto error = caught([&] { call(engine, world, {}); });
    EXPECT_THROW(std::rethrow_exception(error), NothingRan) << name;
    EXPECT_THAT(message_of(error), testing::HasSubstr("_dataloader()"));
  }
}

TEST(EngineNumbersTest, B5GraphMisuseComesOutAsItIs) {
  struct Misuses : TinyModule {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      return misuse(*this, batch);
    }
    std::function<torch::Tensor(TinyModule&, const Batch&)> misuse;
  } module;
  TinyData data;
  const std::vector<std::pair<
      std::string, std::function<torch::Tensor(TinyModule&, const Batch&)>>>
      cases = {
          {"second time",
           [](TinyModule& tiny, const Batch& batch) {
             auto loss = tiny.loss_of(batch);
             loss.backward();
             return loss;
           }},
          {"does not require grad",
           [](TinyModule& tiny, const Batch& batch) {
             return tiny.loss_of(batch).detach();
           }},
          {"modified by an inplace operation",
           [](TinyModule& tiny, const Batch& batch) {
             auto hidden = torch::sigmoid(tiny.hidden(batch.data));
             auto loss = hidden.sum();
             hidden.mul_(2);
             return loss;
           }},
          {"only for scalar outputs",
           [](TinyModule& tiny, const Batch& batch) {
             return tiny.hidden(batch.data);
           }},
      };
  for (const auto& [text, misuse] : cases) {
    module.misuse = misuse;
    const Failed failed = fit_fails(module, data);
    expect_error<c10::Error>(failed, text);
    EXPECT_EQ(failed.place.hook, Hook::kBackward) << text;
  }
}

TEST(EngineNumbersTest, B6TensorHookThatThrowsLeavesNoGradient) {
  struct Hooked : TinyModule {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      auto features = hidden(batch.data);
      features.register_hook([](torch::Tensor grad) -> torch::Tensor {
        throw std::out_of_range("tensor hook");
        return grad;
      });
      return out(features).sum();
    }
  } module;
  TinyData data;
  expect_error<std::out_of_range>(fit_fails(module, data), "tensor hook");
  for (const torch::Tensor& parameter : module.parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
  }
}

TEST(EngineNumbersTest, B8OptimizerIsCheckedBeforeTheFirstStep) {
  struct Configures : TinyModule {
    Optimizers configure_optimizers() override { return make(*this); }
    std::function<Optimizers(TinyModule&)> make;
  } module;
  TinyData data;
  const std::vector<
      std::pair<std::string, std::function<Optimizers(TinyModule&)>>>
      cases = {
          {"no optimizer", [](TinyModule&) { return Optimizers(); }},
          {"without parameters",
           [](TinyModule&) {
             return torch::optim::SGD(std::vector<torch::Tensor>(), 0.1);
           }},
          {"twice",
           [](TinyModule& tiny) {
             std::vector<torch::optim::OptimizerParamGroup> groups = {
                 torch::optim::OptimizerParamGroup(tiny.parameters()),
                 torch::optim::OptimizerParamGroup(tiny.out->parameters())};
             return torch::optim::SGD(groups, torch::optim::SGDOptions(0.1));
           }},
      };
  for (const auto& [text, make] : cases) {
    module.make = make;
    const Failed failed = fit_fails(module, data);
    expect_error<InputError>(failed, text);
    EXPECT_THAT(message_of(failed.error), testing::HasSubstr("Configures"));
    EXPECT_EQ(failed.place.hook, Hook::kConfigureOptimizers);
  }
  module.make = [](TinyModule& tiny) {
    return torch::optim::SGD(tiny.parameters(), -0.1);
  };
  expect_error<c10::Error>(fit_fails(module, data), "Invalid learning rate");
}

TEST(EngineNumbersTest, OptimizerStepThatSkipsItsClosureIsRefused) {
  struct Skips : TinyModule {
    void optimizer_step(torch::optim::Optimizer&, const Closure&) override {}
  } module;
  TinyData data;
  expect_error<InputError>(fit_fails(module, data), "closure");
}

TEST(EngineNumbersTest, StepThatIsNotOverriddenIsNamed) {
  struct Bare : Module {
    Bare() { register_module("out", torch::nn::Linear(3, 2)); }
  } module;
  TinyData data;
  Engine engine;
  EXPECT_THAT(message_of(caught([&] { engine.test(module, data); })),
              testing::HasSubstr("Bare does not override test_step()"));
  EXPECT_THAT(message_of(caught([&] { engine.predict(module, data); })),
              testing::HasSubstr("predict_step()"));
}

TEST(EngineNumbersTest, GradientsAreClippedToTheNormAskedFor) {
  struct Measures : TinyModule {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      return loss_of(batch) * 1000;
    }
    void optimizer_step(torch::optim::Optimizer& optimizer,
                        const Closure& closure) override {
      TinyModule::optimizer_step(optimizer, [&] {
        torch::Tensor loss = closure();
        torch::Tensor squares = torch::zeros({});
        for (const torch::Tensor& parameter : parameters()) {
          squares += parameter.grad().pow(2).sum();
        }
        norms.push_back(squares.sqrt().item<double>());
        return loss;
      });
    }
    std::vector<double> norms;
  } module;
  TinyData data;
  TrainerOptions options;
  options.max_epochs = 1;
  options.gradient_clip_norm = 0.5;
  Engine(options).fit(module, data);
  ASSERT_EQ(module.norms.size(), 2U);
  EXPECT_THAT(module.norms, testing::Each(testing::DoubleNear(0.5, 1e-3)));
}

}  // namespace
}  // namespace mishap::engine_test
