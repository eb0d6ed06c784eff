// Calls that meet: on two threads, or one inside another.
#include <c10/core/InferenceMode.h>

#include <future>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

struct InferenceCallback final : Callback {
  void on_predict_start(Session&) override { mode = new c10::InferenceMode; }
  void on_predict_end(Session&) override { delete mode; }
  c10::InferenceMode* mode = nullptr;
};

TEST(EngineOverlapTest, InferenceModeDoesNotLeakOutOfAFailedPredict) {
  TinyWorld world;
  TrainerOptions options = world.options();
  const auto callback = std::make_shared<InferenceCallback>();
  options.callbacks.push_back(callback);
  world.data.labels = torch::Tensor();
  world.data.images = torch::ones({4, 2});  // The module takes three.
  EXPECT_TRUE(
      caught([&] { Engine(options).predict(world.module, world.data); }));
  // The guard that nobody ended: deleting it now would set what it found.
  ASSERT_NE(callback->mode, nullptr);
  EXPECT_FALSE(c10::InferenceMode::is_enabled());
  EXPECT_TRUE(torch::GradMode::is_enabled());
}

TEST(EngineOverlapTest, FlagsOfTheProcessComeBackWithTheLastRun) {
  std::promise<void> inside;
  std::promise<void> other_ended;
  TinyWorld first;
  TinyWorld second;
  TrainerOptions options = first.options();
  options.deterministic = true;
  bool kept = false;
  first.module.in_training_step = [&](std::int64_t) {
    if (!std::exchange(kept, true)) {
      inside.set_value();
      other_ended.get_future().wait();
      kept = at::globalContext().deterministicAlgorithms();
    }
  };
  std::thread thread([&] { Engine(options).fit(first.module, first.data); });
  inside.get_future().wait();
  Engine(second.options()).validate(second.module, second.data);
  other_ended.set_value();
  thread.join();
  EXPECT_TRUE(kept);
  EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
}

struct ValidatesBeforeEachStep final : Callback {
  explicit ValidatesBeforeEachStep(TinyWorld& world) : world(world) {}
  void on_before_optimizer_step(Session& session,
                                torch::optim::Optimizer&) override {
    Engine(TrainerOptions{}).validate(session.module(), world.data);
    ++validations;
  }
  TinyWorld& world;
  int validations = 0;
};

TEST(EngineOverlapTest, AnotherTrainersEvaluationLeavesTheGradientsToTheFit) {
  TinyWorld watched;
  TrainerOptions options = watched.options();
  const auto validates = std::make_shared<ValidatesBeforeEachStep>(watched);
  options.callbacks.push_back(validates);
  const torch::Tensor before = weights_of(watched.module);
  Engine(options).fit(watched.module, watched.data);
  EXPECT_EQ(validates->validations, 4);
  EXPECT_FALSE(torch::equal(weights_of(watched.module), before));
}

struct Nameless final : SpyCallback {
  std::string name() const override { throw std::runtime_error("no name"); }
};

TEST(EngineOverlapTest, EverybodyIsToldOfACallbackThatCannotSayItsName) {
  TinyWorld world;
  TrainerOptions options = world.options();
  const auto nameless = std::make_shared<Nameless>();
  options.callbacks.insert(options.callbacks.begin(), nameless);
  EXPECT_THROW(Engine(options).fit(world.module, world.data),
               std::runtime_error);
  for (const Calls* calls :
       {&nameless->calls, &world.first->calls, &world.second->calls,
        &world.data.calls, &world.module.calls}) {
    EXPECT_EQ(calls->told, 1);
  }
}

}  // namespace
}  // namespace mishap::engine_test
