#include <mishap/trainer/engine/callbacks/model_checkpoint.h>
#include <signal.h>

#include <set>

#include "cases_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::ElementsAre;

using CasesT = Cases;

// T2
TEST_F(CasesT, RunIsRunningWithItsStageInEveryStep) {
  struct Steps : Observer {
    void before(mishap::Run& run) override {
      static const std::set<Hook> kSteps = {
          Hook::kTrainingStep, Hook::kValidationStep, Hook::kTestStep,
          Hook::kPredictStep};
      if (kSteps.count(run.place().hook) > 0) {
        EXPECT_EQ(run.status(), Status::kRunning);
        seen.insert(std::string(run.entry_point()) + "/" +
                    std::string(to_string(run.place().stage)));
      }
    }
    std::set<std::string> seen;
  } steps;
  TinyWorld world;
  harness_.guard.observers = {&steps};
  Trainer trainer = make_trainer(world.options());
  for (const auto& [name, call] : trainer_calls()) {
    call(trainer, world.module, world.data);
  }
  EXPECT_THAT(steps.seen,
              ElementsAre("fit/sanity_check", "fit/train", "fit/validate",
                          "predict/predict", "test/test", "validate/validate"));
}

// T4
TEST_F(CasesT, TrainerTellsAnInterruptAndThenAnErrorApart) {
  TinyWorld world;
  Trainer trainer = make_trainer(trained(world));
  world.module.in_training_step = [](std::int64_t) { raise(SIGINT); };
  json record = record_of([&] { trainer.fit(world.module, world.data); });
  EXPECT_EQ(record["kind"], "interrupt");
  EXPECT_THROW(std::rethrow_exception(error_), Interrupted);
  EXPECT_EQ(world.first->calls.error, error_);
  struct NoTestData : TinyData {
    LoaderPtr test_dataloader() override { return nullptr; }
  } data;
  record = record_of([&] { trainer.test(world.module, data); });
  EXPECT_EQ(record["kind"], "error");
  EXPECT_THROW(std::rethrow_exception(error_), InputError);
  EXPECT_EQ(world.first->calls.error, error_);
  EXPECT_EQ(world.first->calls.told, 2);
  EXPECT_THAT(world.logger->words,
              ElementsAre(FinalWord::kInterrupted, FinalWord::kFailed));
}

// T6
TEST_F(CasesT, OneTrainerFailsInEachEntryPointInTurn) {
  TinyWorld world;
  Trainer trainer = make_trainer(trained(world));
  int told = 0;
  for (const auto& [name, hook] :
       std::vector<std::pair<std::string, std::string>>{
           {"fit", "on_train_start"},
           {"validate", "on_validation_start"},
           {"test", "on_test_start"},
           {"predict", "on_predict_start"}}) {
    const faultinject::Scenario armed = faultinject::arm(
        faultinject::Plan::parse("hook/" + hook +
                                 "/callback.SpyCallback=throw(runtime, " +
                                 name + ")"),
        faultinject::Scope::process());
    json record = record_of([&, &call = trainer_calls().at(name)] {
      call(trainer, world.module, world.data);
    });
    expect_thrown(record, "std::runtime_error", name);
    EXPECT_EQ(record["hook"], hook);
    EXPECT_EQ(world.second->calls.told, ++told);
    EXPECT_EQ(world.second->calls.entry_point, name);
  }
}

// T17
TEST_F(CasesT, MetricsAreEmptyWhenACallBegins) {
  struct Looks : Callback {
    void setup(Session& session) override {
      EXPECT_TRUE(session.metrics().empty());
    }
    void on_fit_end(Session& session) override { seen = session.metrics(); }
    Metrics seen;
  };
  TinyWorld world;
  const auto looks = std::make_shared<Looks>();
  TrainerOptions options = world.options();
  options.callbacks = {looks};
  Trainer trainer = make_trainer(options);
  trainer.fit(world.module, world.data);
  EXPECT_EQ(looks->seen.count("loss"), 1U);
  trainer.test(world.module, world.data);
  trainer.fit(world.module, world.data);
}

// T41
TEST_F(CasesT, EveryHookThereIsRunsInAFewCalls) {
  struct Hooks : Observer {
    void before(mishap::Run& run) override { seen.insert(run.place().hook); }
    std::set<Hook> seen;
  } hooks;
  struct Scheduled : TinyModule {
    Optimizers configure_optimizers() override {
      return Optimizers(torch::optim::SGD(parameters(), 0.1))
          .schedule<torch::optim::StepLR>(Optimizers::Every::kEpoch,
                                          /*step_size=*/1, /*gamma=*/0.5);
    }
  } module;
  TinyWorld world;
  harness_.guard.observers = {&hooks};
  const auto keeper =
      std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{.name = "all"});
  TrainerOptions options = world.options();
  options.root_dir = harness_.capture.records;
  options.callbacks.push_back(keeper);
  Trainer trainer = make_trainer(options);
  for (const auto& [name, call] : trainer_calls()) {
    call(trainer, module, world.data);
  }
  trainer.fit(module, world.data, keeper->best_path());
  module.in_training_step = [](std::int64_t) { throw 1; };
  record_of([&] { trainer.fit(module, world.data); });
  for (std::size_t i = 0; i < kHookCount; ++i) {
    const auto hook = static_cast<Hook>(i);
    // Those of own loops.
    if (hook != Hook::kStep && hook != Hook::kEpoch) {
      EXPECT_EQ(hooks.seen.count(hook), 1U) << to_string(hook);
    }
  }
}

// Logs a value in one hook.
struct LogsIn : Callback {
  explicit LogsIn(std::string hook_) : hook(std::move(hook_)) {}

#define MISHAP_LOGS_IN(name) \
  void name(Session& session) override { log(session, #name); }
  MISHAP_LOGS_IN(setup)
  MISHAP_LOGS_IN(teardown)
  MISHAP_LOGS_IN(on_fit_start)
  MISHAP_LOGS_IN(on_fit_end)
  MISHAP_LOGS_IN(on_sanity_check_start)
  MISHAP_LOGS_IN(on_sanity_check_end)
  MISHAP_LOGS_IN(on_train_start)
  MISHAP_LOGS_IN(on_train_end)
  MISHAP_LOGS_IN(on_train_epoch_start)
  MISHAP_LOGS_IN(on_train_epoch_end)
  MISHAP_LOGS_IN(on_validation_start)
  MISHAP_LOGS_IN(on_validation_epoch_start)
  MISHAP_LOGS_IN(on_validation_epoch_end)
  MISHAP_LOGS_IN(on_validation_end)
#undef MISHAP_LOGS_IN

  std::string hook;

 private:
  void log(Session& session, const std::string& here) const {
    if (here == hook) {
      session.log("value", 1.0);
    }
  }
};

// T46
TEST_F(CasesT, LoggingIsRefusedInTheHooksOutsideOfAnEpoch) {
  for (const char* refused : {"setup", "teardown", "on_fit_start", "on_fit_end",
                              "on_sanity_check_start", "on_sanity_check_end",
                              "on_train_start", "on_train_end"}) {
    SCOPED_TRACE(refused);
    TinyWorld world;
    TrainerOptions options = world.options();
    options.callbacks = {std::make_shared<LogsIn>(refused)};
    json record =
        record_of([&] { make_trainer(options).fit(world.module, world.data); });
    expect_thrown(record, "mishap::InputError", "value");
    EXPECT_EQ(record["hook"], refused);
    EXPECT_EQ(record["component"], "callback.LogsIn");
  }
  for (const char* allowed :
       {"on_train_epoch_start", "on_train_epoch_end", "on_validation_start",
        "on_validation_epoch_start", "on_validation_epoch_end"}) {
    SCOPED_TRACE(allowed);
    TinyWorld world;
    TrainerOptions options = world.options();
    options.callbacks = {std::make_shared<LogsIn>(allowed)};
    make_trainer(options).fit(world.module, world.data);
  }
}

// T46. Product gap: the means are taken by then, so the value is lost in
// silence.
TEST_F(CasesT, LoggingAfterTheMeansWereTakenIsRefused) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.callbacks = {std::make_shared<LogsIn>("on_validation_end")};
  json record = record_of(
      [&] { make_trainer(options).validate(world.module, world.data); });
  expect_thrown(record, "mishap::InputError", "value");
}

// T46
TEST_F(CasesT, LoggingWhileAFailureIsHandledIsASecondaryError) {
  struct LogsTheFailure : Callback {
    void on_exception(const ErrorEvent&) override {
      Session::current()->log("failed", 1.0);
    }
  };
  TinyWorld world;
  TrainerOptions options = trained(world);
  options.callbacks.push_back(std::make_shared<LogsTheFailure>());
  world.module.in_training_step = [](std::int64_t) {
    throw std::runtime_error("first");
  };
  json record =
      record_of([&] { make_trainer(options).fit(world.module, world.data); });
  expect_thrown(record, "std::runtime_error", "first");
  ASSERT_EQ(record["suppressed"].size(), 1U);
  EXPECT_EQ(record["suppressed"][0]["type"], "mishap::InputError");
  expect_cleaned_up(world, world.module);
}

}  // namespace
}  // namespace mishap::engine_test
