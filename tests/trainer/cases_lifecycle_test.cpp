#include "cases_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

using CasesF = Cases;
using CasesH = Cases;

// F2, H3
TEST_F(CasesF, TeardownThatThrowsHidesNothingAndStopsNothing) {
  struct BadStrategy : SingleDevice {
    void teardown(Module& module) override {
      SingleDevice::teardown(module);
      throw std::logic_error("no device");
    }
  };
  struct BadCallback : SpyCallback {
    void teardown(Session& session) override {
      SpyCallback::teardown(session);
      throw 42;
    }
  };
  TinyWorld world;
  const auto bad = std::make_shared<BadCallback>();
  TrainerOptions options = trained(world);
  options.callbacks.push_back(bad);
  options.strategy = std::make_shared<BadStrategy>();
  world.module.in_training_step = [](std::int64_t) {
    throw std::runtime_error("first");
  };
  json record =
      record_of([&] { make_trainer(options).fit(world.module, world.data); });
  expect_thrown(record, "std::runtime_error", "first");
  json& others = record["suppressed"];
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others[0]["step"], "release");
  EXPECT_EQ(others[0]["component"], "strategy");
  EXPECT_EQ(others[0]["type"], "std::logic_error");
  EXPECT_EQ(others[0]["message"], "no device");
  EXPECT_EQ(others[1]["step"], "teardown");
  EXPECT_EQ(others[1]["component"], "callback.BadCallback");
  EXPECT_EQ(others[1]["type"], "int");
  EXPECT_EQ(bad->calls.teardown, 1);
  expect_cleaned_up(world, world.module);
}

// F3, H1
TEST_F(CasesF, HandlerThatThrowsLeavesTheOthersTheirTurn) {
  struct BadCallback : SpyCallback {
    void on_exception(const ErrorEvent& event) override {
      SpyCallback::on_exception(event);
      throw std::logic_error("cannot save");
    }
  };
  TinyWorld world;
  const auto bad = std::make_shared<BadCallback>();
  TrainerOptions options = trained(world);
  options.callbacks.insert(options.callbacks.begin(), bad);
  world.module.in_training_step = [](std::int64_t) {
    throw std::runtime_error("first");
  };
  json record =
      record_of([&] { make_trainer(options).fit(world.module, world.data); });
  expect_thrown(record, "std::runtime_error", "first");
  ASSERT_EQ(record["suppressed"].size(), 1U);
  EXPECT_EQ(record["suppressed"][0]["step"], "tell");
  EXPECT_EQ(record["suppressed"][0]["component"], "callback.BadCallback");
  EXPECT_EQ(record["suppressed"][0]["message"], "cannot save");
  EXPECT_EQ(bad->calls.told, 1);
  EXPECT_EQ(bad->calls.teardown, 1);
  expect_cleaned_up(world, world.module);
}

// A logger that fails in one of its hooks.
struct BadLogger : SpyLogger {
  explicit BadLogger(std::string hook_) : hook(std::move(hook_)) {}

  void experiment() override {
    SpyLogger::experiment();
    strike("experiment");
  }
  void log_hyperparams(const Hyperparameters&) override {
    strike("log_hyperparams");
  }
  void log_metrics(const Metrics&, const Place&) override {
    strike("log_metrics");
  }
  void save() override { strike("save"); }
  void finalize(FinalWord word) override {
    SpyLogger::finalize(word);
    strike("finalize");
  }

  std::string hook;

 private:
  void strike(const std::string& here) const {
    if (here == hook) {
      throw std::runtime_error("logger in " + here);
    }
  }
};

// F5, H12
TEST_F(CasesF, LoggerThatFailsIsRecordedAtItsStageAndHearsFailed) {
  struct Expected {
    const char* hook;
    const char* stage;
    FinalWord word;
  };
  for (const Expected& expected :
       {Expected{"experiment", "setup", FinalWord::kFailed},
        Expected{"log_hyperparams", "setup", FinalWord::kFailed},
        Expected{"log_metrics", "train", FinalWord::kFailed},
        Expected{"save", "setup", FinalWord::kFailed},
        Expected{"finalize", "teardown", FinalWord::kSuccess}}) {
    SCOPED_TRACE(expected.hook);
    TinyWorld world;
    const auto bad = std::make_shared<BadLogger>(expected.hook);
    TrainerOptions options = trained(world);
    options.log_every_n_steps = 1;
    options.loggers = {bad, world.logger};
    json record =
        record_of([&] { make_trainer(options).fit(world.module, world.data); });
    expect_thrown(record, "std::runtime_error",
                  std::string("logger in ") + expected.hook);
    expect_place(record, expected.stage, expected.hook, "logger.BadLogger");
    EXPECT_THAT(bad->words, ElementsAre(expected.word));
    EXPECT_THAT(world.logger->words, Each(FinalWord::kFailed));
    EXPECT_EQ(static_cast<int>(world.logger->words.size()),
              world.logger->experiments);
  }
}

// H2
TEST_F(CasesF, LoggerThatFailsToHearOfAFailureStopsNothing) {
  TinyWorld world;
  TrainerOptions options = trained(world);
  options.loggers = {std::make_shared<BadLogger>("finalize"), world.logger};
  world.module.in_training_step = [](std::int64_t) {
    throw std::out_of_range("first");
  };
  json record =
      record_of([&] { make_trainer(options).fit(world.module, world.data); });
  expect_thrown(record, "std::out_of_range", "first");
  ASSERT_EQ(record["suppressed"].size(), 1U);
  EXPECT_EQ(record["suppressed"][0]["step"], "finalize");
  EXPECT_EQ(record["suppressed"][0]["component"], "logger.BadLogger");
  expect_cleaned_up(world, world.module);
}

// F8, H47
TEST_F(CasesF, RecordTellsTheEntryPointAndTheLoopInsideIt) {
  for (const Moment& moment : moments()) {
    SCOPED_TRACE(moment.entry_point + ", " + moment.hook);
    json record = record_with(moment.plan("throw(int, 7)"), moment.entry_point);
    EXPECT_EQ(record["kind"], "error");
    EXPECT_EQ(record["entry_point"], moment.entry_point);
    expect_place(record, moment.stage, moment.hook);
    EXPECT_EQ(record["exceptions"][0]["type"], "int");
  }
}

// F11
TEST_F(CasesF, CausesOfANestedErrorAreKeptInOrder) {
  TinyWorld world;
  world.module.in_training_step = [](std::int64_t) {
    try {
      throw std::invalid_argument("inner");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("outer"));
    }
  };
  error_ = caught(
      [&] { make_trainer(trained(world)).fit(world.module, world.data); });
  EXPECT_THROW(std::rethrow_exception(error_), std::nested_exception);
  ASSERT_EQ(records().size(), 1U);
  json record = records()[0];
  ASSERT_EQ(record["exceptions"].size(), 2U);
  expect_thrown(record, "std::runtime_error", "outer");
  expect_thrown(record, "std::invalid_argument", "inner", 1);
  expect_cleaned_up(world, world.module);
}

// H7, T23
TEST_F(CasesH, FailureInAnyPhaseStopsTheWorkersOfAllLoaders) {
  TinyWorld clean;
  user_code::LoadedData data(2);
  make_trainer(clean.options()).fit(clean.module, data);
  const Resources before = Resources::sample("");
  for (const char* rule :
       {"hook/validation_step/module=", "hook/validation_step/module=1*off->",
        "hook/on_train_epoch_end/module=", "hook/training_step/module=1*off->",
        "hook/on_train_end/module="}) {
    SCOPED_TRACE(rule);
    TinyWorld world;
    const faultinject::Scenario armed = faultinject::arm(
        faultinject::Plan::parse(std::string(rule) + "1*throw(runtime)"),
        faultinject::Scope::process());
    record_of([&] { make_trainer(world.options()).fit(world.module, data); });
    EXPECT_EQ(world.module.calls.teardown, 1);
    EXPECT_TRUE(world.module.is_training());
    EXPECT_EQ(Resources::sample("").beyond(before), "");
  }
}

// H16
TEST_F(CasesH, LoaderThatEndsBeforeItsSizeIsValidatedAfterAllTheSame) {
  struct SaysTen : Loader {
    void start(std::int64_t) override { left = 2; }
    std::optional<Batch> next() override {
      if (left-- == 0) {
        return std::nullopt;
      }
      return Batch{torch::rand({2, 3}), torch::tensor({0, 1}), {}};
    }
    std::optional<std::int64_t> size() const override { return 10; }
    int left = 0;
  };
  struct SaysTenData : TinyData {
    LoaderPtr train_dataloader() override {
      return std::make_unique<SaysTen>();
    }
  } data;
  TinyWorld world;
  int validations = 0;
  world.module.in_validation_step = [&] { ++validations; };
  make_trainer(trained(world)).fit(world.module, data);
  EXPECT_EQ(validations, 2);
  EXPECT_EQ(world.first->losses.size(), 4U);
}

// H19
TEST_F(CasesH, StepWithoutALossIsRefusedInWords) {
  TinyWorld world;
  user_code::Computes model(
      [](TinyModule&, const Batch&) { return torch::Tensor(); });
  json record = record_of_fit(world, model);
  expect_thrown(record, "mishap::InputError", "returned no loss");
  expect_place(record, "train", "training_step");
}

// H49
TEST_F(CasesH, ManyFitsWithWorkersAllEndWell) {
  TinyWorld world;
  user_code::LoadedData data(2);
  Trainer trainer = make_trainer(trained(world));
  trainer.fit(world.module, data);
  const Resources before = Resources::sample("");
  for (int i = 0; i < 20; ++i) {
    trainer.fit(world.module, data);
  }
  EXPECT_TRUE(records().empty());
  EXPECT_EQ(Resources::sample("").beyond(before), "");
}

}  // namespace
}  // namespace mishap::engine_test
