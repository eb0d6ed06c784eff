#include <mishap/trainer/tasks/digits.h>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

using tasks::DigitsData;
using tasks::DigitsModule;
using tasks::DigitsOptions;

double accuracy_with(std::uint64_t seed, std::int64_t workers) {
  DigitsOptions digits;
  digits.seed = seed;
  digits.workers = workers;
  DigitsModule module(digits);
  DigitsData data(digits);
  TrainerOptions options;
  options.max_epochs = digits.epochs;
  options.seed = seed;
  Engine engine(options);
  engine.fit(module, data);
  const double accuracy = engine.test(module, data).at("accuracy");
  testing::Test::RecordProperty("accuracy_of_seed_" + std::to_string(seed),
                                std::to_string(accuracy));
  return accuracy;
}

TEST(DigitsTest, IsLearnedWithSeedOne) { EXPECT_GE(accuracy_with(1, 0), 0.96); }

TEST(DigitsTest, IsLearnedWithSeedTwo) { EXPECT_GE(accuracy_with(2, 0), 0.96); }

TEST(DigitsTest, IsLearnedWithSeedThree) {
  EXPECT_GE(accuracy_with(3, 2), 0.96);
}

TEST(DigitsTest, PredictionsAreTheDigitsThatTestCounts) {
  DigitsOptions digits = tasks::tiny_digits();
  digits.test_rows = 5;
  DigitsModule module(digits);
  DigitsData data(digits);
  Engine engine;
  const torch::Tensor named = torch::cat(engine.predict(module, data));
  ASSERT_EQ(named.size(0), 5);
  EXPECT_GE(named.min().item<std::int64_t>(), 0);
  EXPECT_LE(named.max().item<std::int64_t>(), 9);
}

TEST(DigitsTest, TinyWorldRunsTheBatchesItPromises) {
  const DigitsOptions digits = tasks::tiny_digits();
  DigitsModule module(digits);
  DigitsData data(digits);
  TrainerOptions options;
  options.max_epochs = digits.epochs;
  Engine engine(options);
  HookTrace trace;
  engine.fit(module, data, watched_by(trace));
  engine.test(module, data, watched_by(trace));
  engine.predict(module, data, watched_by(trace));
  const auto count = [&](const char* point) {
    return std::count(trace.points.begin(), trace.points.end(), point);
  };
  EXPECT_EQ(count("training_step/module"), 4);
  EXPECT_EQ(count("validation_step/module"), 3);
  EXPECT_EQ(count("test_step/module"), 1);
  EXPECT_EQ(count("predict_step/module"), 1);
}

TEST(DigitsTest, LabelBeyondTheModelsClassesIsAnIndexErrorOfLibTorch) {
  DigitsOptions digits;
  digits.classes = 7;
  DigitsModule module(digits);
  DigitsData data(digits);
  const auto error = caught([&] { Engine().validate(module, data); });
  EXPECT_THROW(std::rethrow_exception(error), c10::IndexError);
  EXPECT_THAT(message_of(error), testing::HasSubstr("out of bounds"));
}

TEST(DigitsTest, MissingFileAndBadSizesAreNamed) {
  DigitsOptions digits;
  digits.data = "/nowhere/digits.csv";
  DigitsModule module(digits);
  DigitsData missing(digits);
  Engine engine;
  EXPECT_THAT(message_of(caught([&] { engine.test(module, missing); })),
              testing::HasSubstr("/nowhere/digits.csv"));
  digits.data.clear();
  digits.test_rows = 100000;
  DigitsData greedy(digits);
  EXPECT_THAT(message_of(caught([&] { engine.test(module, greedy); })),
              testing::HasSubstr("test_rows is 100000"));
  digits.classes = 0;
  EXPECT_THROW(DigitsModule{digits}, InputError);
}

}  // namespace
}  // namespace mishap::engine_test
