#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cases_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using CasesC = Cases;
using CasesE = Cases;

// C1
TEST_F(CasesC, ErrorInAWorkerIsRecordedWithItsCauseThreadAndStack) {
  for (const std::int64_t workers : {0, 2}) {
    SCOPED_TRACE(workers);
    TinyWorld world;
    user_code::LoadedData data(workers);
    data.samples.look = user_code::refuse_sample_five;
    json record = record_of(
        [&] { make_trainer(trained(world)).fit(world.module, data); });
    const std::size_t cause = workers == 0 ? 0 : 1;
    ASSERT_EQ(record["exceptions"].size(), cause + 1);
    expect_thrown(record, "std::out_of_range", "bad sample 5", cause);
    expect_place(record, "train", "load_batch", "loader");
    EXPECT_EQ(record["batch_index"], 2);
    EXPECT_EQ(record["thread"]["role"], workers == 0 ? "main" : "worker");
    EXPECT_THAT(first_in_app(record, cause), HasSubstr("refuse_sample_five"));
    if (workers > 0) {
      expect_thrown(record, "torch::data::WorkerException", "bad sample 5");
    }
  }
}

// C3
TEST_F(CasesC, SamplesOfUnequalSizeFailWithAndWithoutWorkers) {
  for (const std::int64_t workers : {0, 2}) {
    SCOPED_TRACE(workers);
    TinyWorld world;
    user_code::LoadedData data(workers);
    data.samples.width = [](std::size_t index) { return index == 3 ? 4 : 3; };
    json record = record_of(
        [&] { make_trainer(trained(world)).fit(world.module, data); });
    expect_thrown(record, "c10::Error", "stack expects each tensor",
                  workers == 0 ? 0 : 1);
    expect_place(record, "train", "load_batch", "loader");
    EXPECT_EQ(record["batch_index"], 1);
  }
}

// C4
TEST_F(CasesC, WorkerThatHangsIsRecordedAsATimeoutAndWaitedFor) {
  TinyWorld world;
  user_code::LoadedData data(1);
  make_trainer(trained(world)).fit(world.module, data);
  const Resources before = Resources::sample("");
  data.loading.timeout = std::chrono::milliseconds(50);
  data.samples.look = [](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
  };
  json record =
      record_of([&] { make_trainer(trained(world)).fit(world.module, data); });
  expect_thrown(record, "c10::Error", "Timeout in DataLoader");
  expect_place(record, "train", "load_batch", "loader");
  EXPECT_EQ(record["batch_index"], 0);
  EXPECT_EQ(Resources::sample("").beyond(before), "");
}

// C8
TEST_F(CasesC, DataOfAFailedFitServesTheNextEntryPoint) {
  for (const std::int64_t workers : {0, 2}) {
    SCOPED_TRACE(workers);
    TinyWorld world;
    user_code::LoadedData data(workers);
    world.module.in_training_step = [](std::int64_t index) {
      if (index == 1) {
        throw std::runtime_error("in the middle of a pass");
      }
    };
    Trainer trainer = make_trainer(trained(world));
    record_of([&] { trainer.fit(world.module, data); });
    EXPECT_EQ(trainer.validate(world.module, data).count("loss"), 1U);
    world.module.in_training_step = nullptr;
    trainer.fit(world.module, data);
    EXPECT_EQ(records().size(), workers == 0 ? 1U : 2U);
  }
}

// C9
TEST_F(CasesC, WorkersThatPrefetchAreJoinedWhenTheStepThrows) {
  TinyWorld world;
  user_code::LoadedData data(2);
  Trainer trainer = make_trainer(trained(world));
  trainer.fit(world.module, data);
  const Resources before = Resources::sample("");
  data.samples.look = [](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  };
  world.module.in_training_step = [](std::int64_t) {
    throw std::runtime_error("consumer");
  };
  json record = record_of([&] { trainer.fit(world.module, data); });
  expect_thrown(record, "std::runtime_error", "consumer");
  expect_place(record, "train", "training_step");
  EXPECT_EQ(Resources::sample("").beyond(before), "");
}

// C10
TEST_F(CasesC, FileThatIsTooShortToBeMappedFailsWhereItIsMapped) {
  struct Maps : TinyData {
    LoaderPtr train_dataloader() override {
      images = torch::from_file(file, /*shared=*/false, /*size=*/1 << 20);
      return TinyData::train_dataloader();
    }
    std::string file;
  } data;
  data.file = temporary_.path() + "/short.bin";
  std::ofstream(data.file) << "short";
  TinyWorld world;
  json record =
      record_of([&] { make_trainer(trained(world)).fit(world.module, data); });
  expect_thrown(record, "c10::Error", "size");
  expect_place(record, "train", "train_dataloader", "data");
  EXPECT_EQ(data.calls.teardown, 1);
}

// E1, E5, H24, H25, H26
TEST_F(CasesE, SigtermIsHonouredAtOnceInEveryStageOfEveryEntryPoint) {
  for (const Moment& moment : moments()) {
    SCOPED_TRACE(moment.entry_point + ", " + moment.hook);
    json record =
        record_with(moment.plan("interrupt(SIGTERM)"), moment.entry_point);
    EXPECT_EQ(record["kind"], "interrupt");
    EXPECT_EQ(record["entry_point"], moment.entry_point);
    expect_thrown(record, "mishap::Interrupted", "SIGTERM");
    EXPECT_EQ(record["stage"], moment.stage);
    json& interrupt = record["interrupt"];
    EXPECT_EQ(interrupt["signal"], "SIGTERM");
    EXPECT_EQ(interrupt["at"]["stage"], moment.stage);
    EXPECT_EQ(interrupt["at"]["hook"], moment.hook);
    EXPECT_EQ(interrupt["honoured"]["hook"], moment.hook);
    EXPECT_GE(interrupt["delay_micros"].get<std::int64_t>(), 0);
  }
}

// E2, H29
TEST_F(CasesE, CtrlCWhileWorkersRunIsAnInterruptAndLeavesNoThread) {
  TinyWorld world;
  user_code::LoadedData data(2);
  make_trainer(trained(world)).fit(world.module, data);
  const Resources before = Resources::sample("");
  TinyWorld interrupted;
  data.samples.look = [](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  interrupted.module.in_training_step = [](std::int64_t) {
    kill(getpid(), SIGINT);
  };
  json record = record_of([&] {
    make_trainer(trained(interrupted)).fit(interrupted.module, data);
  });
  EXPECT_EQ(record["kind"], "interrupt");
  expect_thrown(record, "mishap::Interrupted", "SIGINT");
  EXPECT_EQ(record["interrupt"]["sender_pid"], getpid());
  EXPECT_EQ(interrupted.module.calls.teardown, 1);
  EXPECT_THAT(interrupted.logger->words, ElementsAre(FinalWord::kInterrupted));
  EXPECT_EQ(Resources::sample("").beyond(before), "");
}

// E3, H28
TEST_F(CasesE, CtrlCDuringALongOperationTellsTheDelay) {
  TinyWorld world;
  world.module.in_training_step = [](std::int64_t) {
    raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  json record = record_of(
      [&] { make_trainer(trained(world)).fit(world.module, world.data); });
  EXPECT_EQ(record["interrupt"]["at"]["hook"], "training_step");
  EXPECT_EQ(record["interrupt"]["honoured"]["hook"], "training_step");
  EXPECT_GE(record["interrupt"]["delay_micros"].get<std::int64_t>(), 50'000);
  expect_cleaned_up(world, world.module, FinalWord::kInterrupted);
}

// Sends itself SIGINT in the second step, at a place around the update.
struct InterruptsItsSecondUpdate : TinyModule {
  explicit InterruptsItsSecondUpdate(std::string where_)
      : where(std::move(where_)) {}

  void on_before_optimizer_step(torch::optim::Optimizer&) override {
    strike("before");
  }
  void optimizer_step(torch::optim::Optimizer& optimizer,
                      const Closure& closure) override {
    TinyModule::optimizer_step(optimizer, [&] {
      torch::Tensor loss = closure();
      strike("inside");
      return loss;
    });
    updated.push_back(weights_of(*this));
  }
  void on_train_batch_end(const torch::Tensor&, const Batch&,
                          std::int64_t) override {
    strike("after");
  }

  std::string where;
  std::vector<torch::Tensor> updated;

 private:
  void strike(const std::string& here) {
    if (here == where && ++times_ == 2) {
      raise(SIGINT);
    }
  }
  int times_ = 0;
};

// E11
TEST_F(CasesE, CtrlCAroundAnUpdateCountsTheStepsThatWereFinished) {
  struct Expected {
    const char* where;
    const char* hook;
    std::size_t steps;
  };
  for (const Expected& expected :
       {Expected{"before", "on_before_optimizer_step", 1},
        Expected{"inside", "optimizer_step", 2},
        Expected{"after", "on_train_batch_end", 2}}) {
    SCOPED_TRACE(expected.where);
    TinyWorld world;
    InterruptsItsSecondUpdate module(expected.where);
    json record = record_of(
        [&] { make_trainer(trained(world)).fit(module, world.data); });
    EXPECT_EQ(record["kind"], "interrupt");
    expect_place(record, "train", expected.hook);
    EXPECT_EQ(record["global_step"], expected.steps);
    EXPECT_EQ(record["weights"], "consistent");
    ASSERT_EQ(module.updated.size(), expected.steps);
    EXPECT_TRUE(torch::equal(module.updated.back(), weights_of(module)));
  }
}

// E11. Product gap: the place of a signal is that of the hook entered last,
// here configure_gradient_clipping, although that one has returned.
TEST_F(CasesE, CtrlCInTheUpdateItselfCameDuringTheUpdate) {
  TinyWorld world;
  InterruptsItsSecondUpdate module("inside");
  json record =
      record_of([&] { make_trainer(trained(world)).fit(module, world.data); });
  EXPECT_EQ(record["interrupt"]["at"]["hook"], "optimizer_step");
  EXPECT_EQ(record["interrupt"]["honoured"]["hook"], "optimizer_step");
}

}  // namespace
}  // namespace mishap::engine_test
