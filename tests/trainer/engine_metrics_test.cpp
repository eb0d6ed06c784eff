#include <mishap/trainer/engine/loggers/csv_logger.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

// One value a sample, so that every mean can be computed by hand.
class EchoModule : public TinyModule {
 public:
  void validation_step(const Batch& batch, std::int64_t) override {
    log("mean", batch.data.mean());
  }
  void test_step(const Batch& batch, std::int64_t index) override {
    log("mean", batch.data.mean());
    log("index", static_cast<double>(index));
  }
  torch::Tensor predict_step(const Batch& batch, std::int64_t) override {
    return batch.data * 2;
  }
};

class EchoData : public TinyData {
 public:
  EchoData() {
    images = torch::tensor({1.0F, 2.0F, 3.0F, 4.0F, 20.0F}).reshape({5, 1});
    labels = torch::zeros({5}, torch::kInt64);
  }
};

TEST(EngineMetricsTest, MeansWeighEverySampleAlike) {
  EchoModule module;
  EchoData data;
  Engine engine;
  EXPECT_THAT(engine.validate(module, data),
              testing::ElementsAre(testing::Pair("mean", 6.0)));
  EXPECT_THAT(engine.test(module, data),
              testing::ElementsAre(testing::Pair("index", 0.8),
                                   testing::Pair("mean", 6.0)));
}

TEST(EngineMetricsTest, PredictReturnsWhatEachStepReturned) {
  EchoModule module;
  EchoData data;
  const std::vector<torch::Tensor> outputs = Engine().predict(module, data);
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_TRUE(torch::equal(torch::cat(outputs), data.images * 2));
  EXPECT_FALSE(outputs[0].requires_grad());
}

TEST(EngineMetricsTest, LimitsCutEachEntryPointShort) {
  EchoModule module;
  EchoData data;
  TrainerOptions options;
  options.limit_val_batches = 1;
  options.limit_test_batches = 2;
  options.limit_predict_batches = 1;
  Engine engine(options);
  EXPECT_EQ(engine.validate(module, data).at("mean"), 1.5);
  EXPECT_EQ(engine.test(module, data).at("mean"), 2.5);
  EXPECT_EQ(engine.predict(module, data).size(), 1U);
}

TEST(EngineMetricsTest, LimitOfZeroLeavesTheLoopOutAndSucceeds) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.limit_train_batches = 0;
  options.limit_val_batches = 0;
  options.limit_test_batches = 0;
  options.limit_predict_batches = 0;
  Engine engine(options);
  HookTrace trace;
  engine.fit(world.module, world.data, watched_by(trace));
  EXPECT_TRUE(engine.validate(world.module, world.data).empty());
  EXPECT_TRUE(engine.test(world.module, world.data).empty());
  EXPECT_TRUE(engine.predict(world.module, world.data).empty());
  EXPECT_THAT(
      trace.points,
      testing::Not(testing::Contains(testing::HasSubstr("dataloader"))));
  EXPECT_THAT(trace.points, testing::Contains("on_fit_end/module"));
  EXPECT_EQ(world.module.calls.teardown, 4);
}

TEST(EngineMetricsTest, MaxStepsEndsTheFitInTheMiddleOfAnEpoch) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.max_epochs = 100;
  options.max_steps = 3;
  Engine(options).fit(world.module, world.data);
  EXPECT_EQ(world.first->losses.size(), 3U);
}

TEST(EngineMetricsTest, CallbackMayStopTheFit) {
  struct Stops : Callback {
    void on_train_batch_end(Session& session, const torch::Tensor&,
                            const Batch&, std::int64_t) override {
      session.stop();
    }
  };
  TinyWorld world;
  TrainerOptions options = world.options();
  options.callbacks.push_back(std::make_shared<Stops>());
  Engine engine(options);
  engine.fit(world.module, world.data);
  engine.fit(world.module, world.data);
  EXPECT_EQ(world.first->losses.size(), 2U);
}

TEST(EngineMetricsTest, LoggersReceiveStepAndEpochMetrics) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.log_every_n_steps = 1;
  Engine(options).fit(world.module, world.data);
  const auto& logged = world.logger->logged;
  ASSERT_EQ(logged.size(), 8U);
  EXPECT_EQ(logged[0].first.stage, Stage::kTrain);
  EXPECT_EQ(logged[0].first.batch, 0);
  EXPECT_EQ(logged[0].first.step, 1);
  EXPECT_EQ(logged[0].second.at("loss"), world.first->losses[0]);
  EXPECT_EQ(logged[2].first.stage, Stage::kValidate);
  EXPECT_EQ(logged[3].first.batch, -1);
  EXPECT_DOUBLE_EQ(logged[3].second.at("loss"),
                   (world.first->losses[0] + world.first->losses[1]) / 2);
}

TEST(EngineMetricsTest, CsvLoggerWritesARowForEachTimeSomethingWasLogged) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "mishap_csv_logger";
  std::filesystem::remove_all(folder);
  EchoModule module;
  EchoData data;
  const auto logger = std::make_shared<CsvLogger>(folder / "runs");
  EXPECT_FALSE(std::filesystem::exists(folder));
  TrainerOptions options;
  options.loggers = {logger};
  Engine engine(options);
  engine.validate(module, data);
  engine.test(module, data);
  engine.test(module, data);
  std::ifstream file(logger->file());
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(),
            "stage,epoch,step,index,mean\n"
            "validate,,,,6\n"
            "test,,,0.8,6\n"
            "test,,,0.8,6\n");
  std::filesystem::remove_all(folder);
}

TEST(EngineMetricsTest, CsvLoggerSaysWhichFolderCannotBeMade) {
  EchoModule module;
  EchoData data;
  TrainerOptions options;
  options.loggers = {std::make_shared<CsvLogger>("/proc/nowhere")};
  Engine engine(options);
  const auto error = caught([&] { engine.test(module, data); });
  EXPECT_THROW(std::rethrow_exception(error), InputError);
  EXPECT_THAT(message_of(error), testing::HasSubstr("/proc/nowhere"));
}

TEST(EngineMetricsTest, CsvLoggerThatCannotWriteFailsTheRunAndLeavesNoLitter) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "mishap_csv_blocked";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "metrics.csv" / "blocked");
  EchoModule module;
  EchoData data;
  TrainerOptions options;
  options.loggers = {std::make_shared<CsvLogger>(folder)};
  Engine engine(options);
  EXPECT_THROW(engine.test(module, data), std::system_error);
  EXPECT_EQ(module.calls.place.hook, Hook::kSave);
  EXPECT_FALSE(std::filesystem::exists(folder / "metrics.csv.new"));
  std::filesystem::remove_all(folder);
}

TEST(EngineMetricsTest, LoggingOutsideAnEpochIsRefused) {
  struct LogsInSetup : TinyModule {
    void setup(std::string_view) override { log("loss", 1.0); }
  };
  TinyWorld world;
  LogsInSetup module;
  const auto error =
      caught([&] { Engine(world.options()).test(module, world.data); });
  EXPECT_THAT(message_of(error), testing::AllOf(testing::HasSubstr("\"loss\""),
                                                testing::HasSubstr("setup")));
}

}  // namespace
}  // namespace mishap::engine_test
