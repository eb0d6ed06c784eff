#include <future>
#include <thread>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

TEST(EngineStateTest, F6NothingLeaksOutOfAFailedValidation) {
  TinyWorld world;
  world.module.dropout->eval();
  world.module.in_validation_step = [] {
    torch::GradMode::set_enabled(false);
    torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
    torch::autograd::AnomalyMode::set_enabled(true);
    at::globalContext().setDeterministicAlgorithms(true, true);
    throw std::runtime_error("bad");
  };
  Engine engine(world.options());
  EXPECT_THROW(engine.fit(world.module, world.data), std::runtime_error);
  EXPECT_TRUE(torch::GradMode::is_enabled());
  EXPECT_EQ(torch::get_default_dtype(), caffe2::TypeMeta::Make<float>());
  EXPECT_FALSE(torch::autograd::AnomalyMode::is_enabled());
  EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
  EXPECT_TRUE(world.module.is_training());
  EXPECT_TRUE(world.module.hidden->is_training());
  EXPECT_FALSE(world.module.dropout->is_training());
}

TEST(EngineStateTest, EvaluationRunsInEvaluationModeWithoutGradients) {
  TinyWorld world;
  world.module.in_validation_step = [&] {
    EXPECT_FALSE(torch::GradMode::is_enabled());
    EXPECT_FALSE(world.module.dropout->is_training());
  };
  world.module.in_training_step = [&](std::int64_t) {
    EXPECT_TRUE(torch::GradMode::is_enabled());
    EXPECT_TRUE(world.module.dropout->is_training());
  };
  Engine(world.options()).fit(world.module, world.data);
}

TEST(EngineStateTest, FitTrainsEvenWhereGradientsWereLeftOff) {
  TinyWorld world;
  const torch::NoGradGuard left_off;
  Engine(world.options()).fit(world.module, world.data);
  EXPECT_EQ(world.first->losses.size(), 4U);
  EXPECT_FALSE(torch::GradMode::is_enabled());
}

TEST(EngineStateTest, DeterministicAlgorithmsAreOnDuringTheCallOnly) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.deterministic = true;
  bool during = false;
  world.module.in_training_step = [&](std::int64_t) {
    during = at::globalContext().deterministicAlgorithms();
  };
  Engine(options).fit(world.module, world.data);
  EXPECT_TRUE(during);
  EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
}

TEST(EngineStateTest, F7SecondFitAfterAFailureEqualsAFreshOne) {
  TinyWorld fresh;
  Engine(fresh.options()).fit(fresh.module, fresh.data);

  TinyWorld world;
  Engine engine(world.options());
  world.module.in_training_step = [](std::int64_t) {
    throw std::runtime_error("first step");
  };
  EXPECT_THROW(engine.fit(world.module, world.data), std::runtime_error);
  world.module.in_training_step = nullptr;
  engine.fit(world.module, world.data);
  EXPECT_EQ(world.first->losses, fresh.first->losses);
  EXPECT_TRUE(torch::equal(weights_of(world.module), weights_of(fresh.module)));
}

TEST(EngineStateTest, SecondFitStartsFromEpochZeroWithThePresentWeights) {
  TinyWorld world;
  std::vector<std::int64_t> epochs;
  world.module.in_training_step = [&](std::int64_t index) {
    if (index == 0) {
      epochs.push_back(Session::current()->place().epoch);
    }
  };
  Engine engine(world.options());
  engine.fit(world.module, world.data);
  const torch::Tensor between = weights_of(world.module);
  engine.fit(world.module, world.data);
  EXPECT_THAT(epochs, testing::ElementsAre(0, 1, 0, 1));
  EXPECT_FALSE(torch::equal(weights_of(world.module), between));
}

TEST(EngineStateTest, EvaluationsInsideAHookOfFitWorkAndDisturbNothing) {
  struct Evaluates : Callback {
    void on_after_backward(Session&) override {
      engine->validate(world->module, world->data);
      engine->test(world->module, world->data);
      predictions += engine->predict(world->module, world->data).size();
    }
    Engine* engine = nullptr;
    TinyWorld* world = nullptr;
    std::size_t predictions = 0;
  };
  TinyWorld plain;
  Engine(plain.options()).fit(plain.module, plain.data);

  TinyWorld world;
  const auto evaluates = std::make_shared<Evaluates>();
  TrainerOptions options = world.options();
  options.callbacks.push_back(evaluates);
  Engine engine(options);
  evaluates->engine = &engine;
  evaluates->world = &world;
  engine.fit(world.module, world.data);
  EXPECT_EQ(evaluates->predictions, 4U);
  EXPECT_EQ(world.first->losses, plain.first->losses);
  EXPECT_TRUE(torch::equal(weights_of(world.module), weights_of(plain.module)));
}

TEST(EngineStateTest, FitInsideACallOfTheSameEngineIsRefused) {
  TinyWorld world;
  Engine engine(world.options());
  std::exception_ptr inner;
  world.module.in_validation_step = [&] {
    inner = caught([&] { engine.fit(world.module, world.data); });
  };
  engine.validate(world.module, world.data);
  ASSERT_TRUE(inner);
  EXPECT_THROW(std::rethrow_exception(inner), InputError);
  EXPECT_THAT(message_of(inner), testing::HasSubstr("same trainer"));
}

TEST(EngineStateTest, CallFromAnotherThreadIsRefusedAndDisturbsNothing) {
  TinyWorld world;
  Engine engine(world.options());
  std::exception_ptr refused;
  world.module.in_training_step = [&](std::int64_t index) {
    if (index == 0) {
      refused = std::async(std::launch::async, [&] {
                  return caught([&] { engine.test(world.module, world.data); });
                }).get();
    }
  };
  engine.fit(world.module, world.data);
  ASSERT_TRUE(refused);
  EXPECT_THROW(std::rethrow_exception(refused), InputError);
  EXPECT_THAT(message_of(refused), testing::HasSubstr("another thread"));
  EXPECT_EQ(world.first->calls.told, 0);
  EXPECT_EQ(world.first->calls.setup, 1);
  world.module.in_training_step = nullptr;
  EXPECT_EQ(
      std::async(std::launch::async,
                 [&] { return engine.test(world.module, world.data).size(); })
          .get(),
      1U);
}

TEST(EngineStateTest, BatchAndSessionAreThereWhileAFailureIsHandled) {
  struct Looks : Callback {
    void on_exception(const ErrorEvent&) override {
      seen = Session::current()->batch() != nullptr;
    }
    bool seen = false;
  };
  TinyWorld world;
  const auto looks = std::make_shared<Looks>();
  TrainerOptions options = world.options();
  options.callbacks = {looks};
  world.module.in_training_step = [](std::int64_t) {
    throw std::runtime_error("bad");
  };
  Engine engine(options);
  EXPECT_THROW(engine.fit(world.module, world.data), std::runtime_error);
  EXPECT_TRUE(looks->seen);
  EXPECT_EQ(Session::current(), nullptr);
}

struct BadOption {
  std::string text;
  std::function<void(TrainerOptions&)> set;
};

TEST(EngineOptionsTest, EachBadOptionIsNamedByEveryEntryPoint) {
  const std::vector<BadOption> cases = {
      {"max_epochs is -1", [](auto& o) { o.max_epochs = -1; }},
      {"max_steps is -2", [](auto& o) { o.max_steps = -2; }},
      {"limit_train_batches is -1",
       [](auto& o) { o.limit_train_batches = -1; }},
      {"limit_val_batches is -1", [](auto& o) { o.limit_val_batches = -1; }},
      {"limit_test_batches is -1", [](auto& o) { o.limit_test_batches = -1; }},
      {"limit_predict_batches", [](auto& o) { o.limit_predict_batches = -9; }},
      {"num_sanity_val_steps", [](auto& o) { o.num_sanity_val_steps = -1; }},
      {"check_val_every_n_epoch is 0",
       [](auto& o) { o.check_val_every_n_epoch = 0; }},
      {"log_every_n_steps is 0", [](auto& o) { o.log_every_n_steps = 0; }},
      {"gradient_clip_norm", [](auto& o) { o.gradient_clip_norm = 0.0; }},
      {"gradient_clip_norm", [](auto& o) { o.gradient_clip_norm = NAN; }},
      {"callbacks[2] is null", [](auto& o) { o.callbacks.push_back(nullptr); }},
      {"loggers[1] is null", [](auto& o) { o.loggers.push_back(nullptr); }},
      {"\"gpu\" is no device", [](auto& o) { o.device = "gpu"; }},
      {"\"cuda:abc\" is no device", [](auto& o) { o.device = "cuda:abc"; }},
      {"empty text", [](auto& o) { o.device = ""; }},
      {"\"meta\" is not supported", [](auto& o) { o.device = "meta"; }},
      {"a b",
       [](auto& o) {
         struct Spaced : Callback {
           std::string name() const override { return "a b"; }
         };
         o.callbacks.push_back(std::make_shared<Spaced>());
       }},
  };
  for (const BadOption& bad : cases) {
    for (const auto& [name, call] : entry_points()) {
      SCOPED_TRACE(bad.text + " in " + name);
      TinyWorld world;
      TrainerOptions options = world.options();
      bad.set(options);
      Engine engine(options);
      const auto error = caught([&] { call(engine, world, {}); });
      ASSERT_TRUE(error);
      EXPECT_THROW(std::rethrow_exception(error), InputError);
      EXPECT_THAT(message_of(error), testing::HasSubstr(bad.text));
      EXPECT_EQ(world.first->calls.told, 1);
      EXPECT_EQ(world.module.calls.told, 1);
      EXPECT_EQ(world.first->calls.place.stage, Stage::kConfigure);
      EXPECT_EQ(world.first->calls.place.hook, Hook::kNone);
      EXPECT_EQ(world.data.calls.teardown, 0);
      EXPECT_EQ(world.logger->experiments, 0);
    }
  }
}

TEST(EngineOptionsTest, CudaIsRefusedWhereThereIsNone) {
  if (torch::cuda::is_available()) {
    GTEST_SKIP() << "this machine has a CUDA device";
  }
  for (const char* device : {"cuda", "cuda:0", "cuda:7"}) {
    TinyWorld world;
    TrainerOptions options = world.options();
    options.device = device;
    const auto error =
        caught([&] { Engine(options).fit(world.module, world.data); });
    EXPECT_THROW(std::rethrow_exception(error), InputError);
    EXPECT_THAT(message_of(error),
                testing::AllOf(testing::HasSubstr(device),
                               testing::HasSubstr("no CUDA device")));
  }
  TinyWorld world;
  TrainerOptions options = world.options();
  options.device = "auto";
  Engine(options).fit(world.module, world.data);
}

TEST(EngineOptionsTest, MissingLoaderIsNamed) {
  struct NoData : DataModule {};
  TinyWorld world;
  NoData data;
  Engine engine(world.options());
  EXPECT_THAT(message_of(caught([&] { engine.fit(world.module, data); })),
              testing::HasSubstr("train_dataloader returned"));
  EXPECT_THAT(message_of(caught([&] { engine.validate(world.module, data); })),
              testing::HasSubstr("val_dataloader returned"));
  EXPECT_THAT(message_of(caught([&] { engine.test(world.module, data); })),
              testing::HasSubstr("test_dataloader returned"));
  EXPECT_THAT(message_of(caught([&] { engine.predict(world.module, data); })),
              testing::HasSubstr("predict_dataloader returned"));
}

TEST(EngineOptionsTest, FitWithoutValidationDataTrainsWithoutValidation) {
  TinyWorld world;
  world.data.validates = false;
  HookTrace trace;
  Engine(world.options()).fit(world.module, world.data, watched_by(trace));
  EXPECT_EQ(world.first->losses.size(), 4U);
  EXPECT_THAT(
      trace.points,
      testing::Not(testing::Contains(testing::HasSubstr("on_validation"))));
  EXPECT_THAT(trace.points,
              testing::Not(testing::Contains(testing::HasSubstr("on_sanity"))));
}

TEST(EngineOptionsTest, ValidationComesEverySoManyEpochs) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.max_epochs = 5;
  options.num_sanity_val_steps = 0;
  options.check_val_every_n_epoch = 2;
  int validations = 0;
  world.module.in_validation_step = [&] { ++validations; };
  Engine(options).fit(world.module, world.data);
  EXPECT_EQ(validations, 2);
}

}  // namespace
}  // namespace mishap::engine_test
