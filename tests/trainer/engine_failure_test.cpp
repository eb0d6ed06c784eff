#include <ATen/CPUGeneratorImpl.h>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

std::size_t hits_of(const std::string& entry_point) {
  TinyWorld world;
  HookTrace trace;
  Engine engine(world.options());
  entry_points().at(entry_point)(engine, world, watched_by(trace));
  return trace.points.size();
}

std::vector<bool> modes_of(const Module& module) {
  std::vector<bool> modes = {module.is_training()};
  for (const auto& submodule : module.modules(/*include_self=*/false)) {
    modes.push_back(submodule->is_training());
  }
  return modes;
}

void expect_told_once(const Calls& calls, const std::string& entry_point,
                      const std::exception_ptr& error) {
  EXPECT_EQ(calls.told, 1);
  EXPECT_EQ(calls.error, error);
  EXPECT_EQ(calls.entry_point, entry_point);
  EXPECT_EQ(calls.ends_after_told, 0);
}

// Everything a user can see of one failed call.
void judge(const std::string& entry_point, std::size_t hit,
           FailAtHit::When when, const torch::Tensor& fresh_fit) {
  TinyWorld world;
  world.module.dropout->eval();
  const std::vector<bool> modes = modes_of(world.module);
  FailAtHit fault(hit, when);
  Engine engine(world.options());
  const std::exception_ptr error = caught([&] {
    entry_points().at(entry_point)(engine, world, watched_by(fault));
  });

  ASSERT_TRUE(fault.fired);
  ASSERT_TRUE(error);
  EXPECT_EQ(message_of(error), "struck");
  for (const Calls* calls : {&world.first->calls, &world.second->calls,
                             &world.data.calls, &world.module.calls}) {
    expect_told_once(*calls, entry_point, error);
  }
  const auto once_if = [](bool begun) { return begun ? 1 : 0; };
  for (const auto& callback : {world.first, world.second}) {
    EXPECT_EQ(callback->calls.teardown, once_if(callback->calls.setup > 0));
  }
  EXPECT_EQ(world.data.calls.teardown,
            once_if(world.data.prepared + world.data.calls.setup > 0));
  EXPECT_EQ(world.module.calls.teardown,
            once_if(world.module.prepared + world.module.calls.setup > 0));
  EXPECT_EQ(static_cast<int>(world.logger->words.size()),
            world.logger->experiments);
  EXPECT_EQ(modes_of(world.module), modes);
  EXPECT_TRUE(torch::GradMode::is_enabled());
  for (const torch::Tensor& parameter : world.module.parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
  }

  TinyWorld same_weights;
  {
    const torch::NoGradGuard no_grad;
    const auto source = same_weights.module.parameters();
    const auto target = world.module.parameters();
    for (std::size_t i = 0; i < source.size(); ++i) {
      target[i].copy_(source[i]);
    }
  }
  world.module.dropout->train();
  engine.fit(world.module, world.data);
  EXPECT_TRUE(torch::equal(weights_of(world.module), fresh_fit));
}

void judge_every_hit(const std::string& entry_point) {
  TinyWorld fresh;
  Engine(fresh.options()).fit(fresh.module, fresh.data);
  const torch::Tensor fresh_fit = weights_of(fresh.module);
  const std::size_t hits = hits_of(entry_point);
  ASSERT_GT(hits, 30U);
  for (std::size_t hit = 0; hit < hits; ++hit) {
    for (const auto when :
         {FailAtHit::When::kBefore, FailAtHit::When::kAfter}) {
      SCOPED_TRACE(entry_point + ", hit " + std::to_string(hit) +
                   (when == FailAtHit::When::kBefore ? ", before" : ", after"));
      judge(entry_point, hit, when, fresh_fit);
      if (testing::Test::HasFailure()) {
        return;
      }
    }
  }
}

TEST(EngineFailureTest, FitCleansUpAfterAFailureAtAnyHook) {
  judge_every_hit("fit");
}

TEST(EngineFailureTest, ValidateCleansUpAfterAFailureAtAnyHook) {
  judge_every_hit("validate");
}

TEST(EngineFailureTest, TestCleansUpAfterAFailureAtAnyHook) {
  judge_every_hit("test");
}

TEST(EngineFailureTest, PredictCleansUpAfterAFailureAtAnyHook) {
  judge_every_hit("predict");
}

TEST(EngineFailureTest, ModuleIsTornDownEvenIfItOnlyPreparedItsData) {
  struct FailsToPrepare : TinyModule {
    void prepare_data() override { throw std::runtime_error("no data"); }
  };
  TinyWorld world;
  FailsToPrepare module;
  Engine engine(world.options());
  EXPECT_THROW(engine.fit(module, world.data), std::runtime_error);
  EXPECT_EQ(module.calls.setup, 0);
  EXPECT_EQ(module.calls.teardown, 1);
  EXPECT_EQ(world.data.calls.teardown, 1);
  EXPECT_EQ(world.first->calls.teardown, 0);
}

TEST(EngineFailureTest, PlaceOfAFailureNamesBatchEpochAndStep) {
  TinyWorld world;
  world.module.in_training_step = [calls = 0](std::int64_t) mutable {
    if (++calls == 4) {
      throw 42;
    }
  };
  Engine engine(world.options());
  EXPECT_THROW(engine.fit(world.module, world.data), int);
  const Place& place = world.first->calls.place;
  EXPECT_EQ(place.stage, Stage::kTrain);
  EXPECT_EQ(place.hook, Hook::kTrainingStep);
  EXPECT_EQ(place.component.name(), "module");
  EXPECT_EQ(place.epoch, 1);
  EXPECT_EQ(place.batch, 1);
  EXPECT_EQ(place.step, 3);
}

TEST(EngineFailureTest, LoggersHearTheWordThatFitsTheRun) {
  TinyWorld world;
  Engine engine(world.options());
  engine.test(world.module, world.data);
  world.module.in_validation_step = [] { throw std::runtime_error("bad"); };
  EXPECT_THROW(engine.validate(world.module, world.data), std::runtime_error);
  EXPECT_THAT(world.logger->words,
              testing::ElementsAre(FinalWord::kSuccess, FinalWord::kFailed));
}

TEST(EngineFailureTest, LateFailureFindsComponentsTornDownOnce) {
  struct FailsLate : SpyLogger {
    void finalize(FinalWord word) override {
      SpyLogger::finalize(word);
      throw std::runtime_error("upload failed");
    }
  };
  TinyWorld world;
  const auto bad = std::make_shared<FailsLate>();
  TrainerOptions options = world.options();
  options.loggers = {world.logger, bad};
  Engine engine(options);
  EXPECT_THROW(engine.fit(world.module, world.data), std::runtime_error);
  EXPECT_EQ(world.module.calls.told, 1);
  EXPECT_TRUE(world.module.calls.late);
  EXPECT_EQ(world.module.calls.teardown, 1);
  EXPECT_THAT(world.logger->words, testing::ElementsAre(FinalWord::kSuccess));
  EXPECT_THAT(bad->words, testing::ElementsAre(FinalWord::kSuccess));
}

TEST(EngineFailureTest, SanityCheckLeavesTheRandomNumbersAsTheyWere) {
  const auto next_number = [](bool fails, std::int64_t sanity_steps) {
    TinyWorld world;
    struct Draws : TinyModule {
      void validation_step(const Batch& batch, std::int64_t index) override {
        torch::rand({8});
        TinyModule::validation_step(batch, index);
      }
      void on_train_start() override { number = torch::rand({1}); }
      torch::Tensor number;
    } module;
    TrainerOptions options = world.options();
    options.num_sanity_val_steps = sanity_steps;
    if (fails) {
      module.in_validation_step = [] { throw std::runtime_error("bad"); };
      EXPECT_THROW(Engine(options).fit(module, world.data), std::runtime_error);
      return torch::rand({1}).item<float>();
    }
    Engine(options).fit(module, world.data);
    return module.number.item<float>();
  };
  const float without = next_number(false, 0);
  EXPECT_EQ(next_number(false, 1), without);
  EXPECT_EQ(next_number(true, 1), without);
}

class ReadsWeights : public Observer {
 public:
  void on_failure(Run& run, const Failure&) noexcept override {
    weights = run.weights();
  }
  Weights weights = Weights::kNone;
};

TEST(EngineFailureTest, WeightsArePartialOnlyDuringTheUpdate) {
  struct BreaksTheUpdate : TinyModule {
    void optimizer_step(torch::optim::Optimizer& optimizer,
                        const Closure& closure) override {
      TinyModule::optimizer_step(optimizer, [&] {
        torch::Tensor loss = closure();
        throw std::runtime_error("in the update");
        return loss;
      });
    }
  };
  TinyWorld world;
  ReadsWeights reads;
  BreaksTheUpdate breaks;
  Engine engine(world.options());
  EXPECT_THROW(engine.fit(breaks, world.data, watched_by(reads)),
               std::runtime_error);
  EXPECT_EQ(reads.weights, Weights::kPartial);
  world.module.in_training_step = [](std::int64_t index) {
    if (index == 1) {
      throw std::runtime_error("before the update");
    }
  };
  EXPECT_THROW(engine.fit(world.module, world.data, watched_by(reads)),
               std::runtime_error);
  EXPECT_EQ(reads.weights, Weights::kConsistent);
}

}  // namespace
}  // namespace mishap::engine_test
