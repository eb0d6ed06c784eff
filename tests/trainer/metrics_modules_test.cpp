#include <mishap/trainer/engine/metrics/accuracy.h>
#include <mishap/trainer/engine/metrics/confusion_matrix.h>
#include <mishap/trainer/engine/metrics/mean_metric.h>
#include <mishap/trainer/engine/seed_everything.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

torch::Tensor classes(const std::vector<std::int64_t>& numbers) {
  return torch::tensor(numbers, torch::kInt64);
}

// The sentence of the InputError that `call` throws; empty for anything else.
template <class Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  } catch (...) {
  }
  return {};
}

// A module with one metric of each kind.
class Measured : public torch::nn::Module {
 public:
  MeanMetric mean = register_module("mean", MeanMetric());
  Accuracy accuracy = register_module("accuracy", Accuracy());
  ConfusionMatrix matrix = register_module("matrix", ConfusionMatrix(3));

  void update() {
    mean->update(2.5, 2);
    accuracy->update(classes({0, 1, 1}), classes({0, 1, 2}));
    matrix->update(classes({0, 1, 1}), classes({0, 1, 2}));
  }
};

TEST(MeanMetricTest, WeighsWhatItIsGiven) {
  MeanMetric mean;
  EXPECT_TRUE(std::isnan(mean->compute()));
  mean->update(1.0, 3);
  EXPECT_EQ(mean->compute(), 1);
  mean->update(torch::tensor({2.0F, 4.0F}));
  EXPECT_EQ(mean->compute(), 9.0 / 5);
  mean->update(torch::tensor({{1, 2}, {3, 4}}), 0.5);
  EXPECT_EQ(mean->compute(), 14.0 / 7);
  mean->update(torch::tensor({10.0, 20.0}), torch::tensor({0, 1}));
  EXPECT_EQ(mean->compute(), 34.0 / 8);
  mean->update(torch::tensor({1.0, 1.0}), torch::tensor({3.0}));
  EXPECT_EQ(mean->compute(), 40.0 / 14);
  mean->update(torch::empty({0}));
  EXPECT_EQ(mean->compute(), 40.0 / 14);
  mean->reset();
  EXPECT_TRUE(std::isnan(mean->compute()));
}

TEST(MeanMetricTest, ANanStaysAndNoWeightIsNoMean) {
  MeanMetric mean;
  mean->update(5.0, 0);
  EXPECT_TRUE(std::isnan(mean->compute()));
  mean->update(kNoValue);
  mean->update(1.0);
  EXPECT_TRUE(std::isnan(mean->compute()));
}

TEST(MeanMetricTest, SumsInDoublePrecision) {
  MeanMetric mean;
  mean->update(torch::full({}, 16777216.0F));
  mean->update(torch::ones({}));
  EXPECT_EQ(mean->compute(), 16777217.0 / 2);
}

TEST(MeanMetricTest, PartsMergedAreTheWhole) {
  const torch::Tensor values = torch::arange(100, torch::kFloat64);
  MeanMetric whole;
  whole->update(values);
  MeanMetric merged;
  for (const torch::Tensor& part : values.split(7)) {
    MeanMetric one;
    one->update(part);
    merged->merge(*one);
  }
  EXPECT_EQ(merged->compute(), 49.5);
  EXPECT_EQ(merged->compute(), whole->compute());
}

TEST(MeanMetricTest, RefusesWhatIsNoValueOrWeight) {
  MeanMetric mean;
  const torch::Tensor two = torch::ones({2});
  const std::vector<std::string> refusals = {
      refusal_of([&] { mean->update(two, torch::ones({3})); }),
      refusal_of([&] {
        mean->update(two, torch::tensor({1.0, -1.0}));
      }),
      refusal_of([&] {
        mean->update(two, torch::tensor({1.0, kNoValue}));
      }),
      refusal_of([&] { mean->update(two, -1); }),
      refusal_of([&] { mean->update(1.0, kNoValue); }),
      refusal_of([&] { mean->update(torch::Tensor()); }),
      refusal_of([&] { mean->update(two.to(torch::kComplexFloat)); }),
  };
  EXPECT_THAT(refusals,
              testing::Each(testing::StartsWith("MeanMetric was given")));
  EXPECT_THAT(refusals[0], testing::AllOf(testing::HasSubstr("[3]"),
                                          testing::HasSubstr("[2]")));
  EXPECT_TRUE(std::isnan(mean->compute()));
}

TEST(AccuracyTest, CountsScoresAndClasses) {
  Accuracy accuracy;
  EXPECT_TRUE(std::isnan(accuracy->compute()));
  accuracy->update(torch::tensor({{0.9, 0.1}, {0.2, 0.8}, {0.7, 0.3}}),
                   classes({0, 1, 1}));
  EXPECT_EQ(accuracy->compute(), 2.0 / 3);
  accuracy->update(classes({4, 7}).to(torch::kInt32),
                   classes({4, 5}).to(torch::kUInt8));
  EXPECT_EQ(accuracy->compute(), 3.0 / 5);
  accuracy->update(torch::empty({0, 2}), classes({}));
  EXPECT_EQ(accuracy->compute(), 3.0 / 5);
  accuracy->reset();
  EXPECT_TRUE(std::isnan(accuracy->compute()));
}

TEST(AccuracyTest, CountsEachPlaceOfAnImage) {
  const torch::Tensor target = classes({0, 1, 2, 2}).reshape({1, 2, 2});
  const torch::Tensor scores =
      torch::one_hot(classes({0, 1, 2, 0}).reshape({1, 2, 2}), 3)
          .permute({0, 3, 1, 2})
          .to(torch::kFloat32);
  Accuracy accuracy;
  accuracy->update(scores, target);
  EXPECT_EQ(accuracy->compute(), 3.0 / 4);
}

TEST(AccuracyTest, TopKTakesTheBestOfThem) {
  const torch::Tensor scores =
      torch::tensor({0.1, 0.4, 0.3, 0.2}).expand({4, 4});
  const std::vector<double> expected = {0.25, 0.5, 0.75, 1};
  for (std::int64_t k = 1; k <= 4; ++k) {
    Accuracy accuracy(k);
    accuracy->update(scores, classes({0, 1, 2, 3}));
    EXPECT_EQ(accuracy->compute(), expected.at(static_cast<std::size_t>(k - 1)))
        << k;
  }
}

TEST(AccuracyTest, OfEqualScoresTheLowerClassComesFirst) {
  const torch::Tensor equal = torch::zeros({4, 4});
  for (std::int64_t k = 1; k <= 4; ++k) {
    Accuracy accuracy(k);
    accuracy->update(equal, classes({0, 1, 2, 3}));
    EXPECT_EQ(accuracy->compute(), static_cast<double>(k) / 4);
  }
}

TEST(AccuracyTest, A7NanIsNeverRight) {
  Accuracy accuracy(2);
  accuracy->update(
      torch::tensor({{kNoValue, 1.0}, {kNoValue, kNoValue}, {1.0, kNoValue}}),
      classes({0, 0, 0}));
  EXPECT_EQ(accuracy->compute(), 0);
}

TEST(AccuracyTest, PartsMergedAreTheWhole) {
  torch::manual_seed(3);
  const torch::Tensor scores = torch::rand({101, 5});
  const torch::Tensor target = torch::randint(5, {101}, torch::kInt64);
  Accuracy whole(2);
  whole->update(scores, target);
  Accuracy merged(2);
  for (std::int64_t start = 0; start < 101; start += 8) {
    const auto part = torch::indexing::Slice(start, start + 8);
    Accuracy one(2);
    one->update(scores.index({part}), target.index({part}));
    merged->merge(*one);
  }
  EXPECT_EQ(merged->compute(), whole->compute());
  EXPECT_GT(whole->compute(), 0);
  EXPECT_LT(whole->compute(), 1);
}

TEST(AccuracyTest, RefusesWhatDoesNotFit) {
  Accuracy accuracy;
  Accuracy best_of_three(3);
  const torch::Tensor scores = torch::rand({2, 2});
  const torch::Tensor target = classes({0, 1});
  const std::vector<std::string> refusals = {
      refusal_of([&] {
        accuracy->update(scores, classes({0, 1, 1}));
      }),
      refusal_of([&] { accuracy->update(torch::rand({2}), target); }),
      refusal_of([&] { accuracy->update(classes({0}), target); }),
      refusal_of([&] { accuracy->update(scores, torch::rand({2})); }),
      refusal_of(
          [&] { accuracy->update(scores.to(torch::kComplexFloat), target); }),
      refusal_of([&] { accuracy->update(torch::Tensor(), target); }),
      refusal_of([&] {
        accuracy->update(scores, classes({0, 2}));
      }),
      refusal_of([&] {
        accuracy->update(scores, classes({-100, 1}));
      }),
      refusal_of([&] {
        accuracy->update(classes({0, -1}), target);
      }),
      refusal_of([&] { best_of_three->update(scores, target); }),
      refusal_of([&] { best_of_three->update(target, target); }),
      refusal_of([&] { Accuracy(0); }),
      refusal_of([&] { accuracy->merge(*best_of_three); }),
  };
  EXPECT_THAT(refusals, testing::Each(testing::StartsWith("Accuracy ")));
  EXPECT_THAT(refusals[3], testing::HasSubstr("Float"));
  EXPECT_THAT(refusals[6], testing::AllOf(testing::HasSubstr("class 2"),
                                          testing::HasSubstr("2 classes")));
  EXPECT_THAT(refusals[7], testing::HasSubstr("-100"));
  EXPECT_TRUE(std::isnan(accuracy->compute()));
  EXPECT_TRUE(std::isnan(best_of_three->compute()));
}

TEST(ConfusionMatrixTest, RowsAreTargetsAndColumnsWhatTheyWereTakenFor) {
  ConfusionMatrix matrix(3);
  matrix->update(torch::tensor({{5.0, 1.0, 1.0}, {0.0, 2.0, 2.0}}),
                 classes({0, 0}));
  matrix->update(classes({1, 1, 0}), classes({1, 1, 1}));
  EXPECT_TRUE(torch::equal(
      matrix->matrix(), classes({1, 1, 0, 1, 2, 0, 0, 0, 0}).reshape({3, 3})));
  EXPECT_TRUE(torch::equal(matrix->compute(), matrix->matrix()));
  EXPECT_EQ(matrix->accuracy(), 3.0 / 5);
  matrix->matrix().zero_();
  EXPECT_EQ(matrix->accuracy(), 3.0 / 5);
  matrix->reset();
  EXPECT_TRUE(
      torch::equal(matrix->matrix(), torch::zeros({3, 3}, torch::kInt64)));
}

TEST(ConfusionMatrixTest, TellsHowWellEachClassIsTold) {
  ConfusionMatrix matrix(4);
  EXPECT_TRUE(std::isnan(matrix->accuracy()));
  EXPECT_TRUE(matrix->recall().isnan().all().item<bool>());
  matrix->update(classes({0, 0, 1, 1, 2}), classes({0, 0, 0, 1, 1}));
  const auto expect = [](const torch::Tensor& got,
                         const std::vector<double>& expected) {
    EXPECT_EQ(got.scalar_type(), torch::kFloat64);
    EXPECT_TRUE(torch::allclose(got, torch::tensor(expected, torch::kFloat64),
                                1e-12, 0, /*equal_nan=*/true))
        << got;
  };
  expect(matrix->recall(), {2.0 / 3, 1.0 / 2, kNoValue, kNoValue});
  expect(matrix->precision(), {1, 1.0 / 2, 0, kNoValue});
  expect(matrix->f1(), {4.0 / 5, 1.0 / 2, 0, kNoValue});
}

TEST(ConfusionMatrixTest, PartsMergedAreTheWhole) {
  torch::manual_seed(4);
  const torch::Tensor taken_for = torch::randint(3, {50}, torch::kInt64);
  const torch::Tensor target = torch::randint(3, {50}, torch::kInt64);
  ConfusionMatrix whole(3);
  whole->update(taken_for, target);
  ConfusionMatrix merged(3);
  for (std::int64_t start = 0; start < 50; start += 9) {
    const auto part = torch::indexing::Slice(start, start + 9);
    ConfusionMatrix one(3);
    one->update(taken_for.index({part}), target.index({part}));
    merged->merge(*one);
  }
  EXPECT_TRUE(torch::equal(merged->matrix(), whole->matrix()));
  EXPECT_EQ(whole->matrix().sum().item<std::int64_t>(), 50);
}

TEST(ConfusionMatrixTest, RefusesWhatDoesNotFitAndCountsNoneOfIt) {
  ConfusionMatrix matrix(3);
  const torch::Tensor target = classes({0, 1});
  const std::vector<std::string> refusals = {
      refusal_of([&] {
        matrix->update(classes({0, 3}), target);
      }),
      refusal_of([&] {
        matrix->update(target, classes({0, 3}));
      }),
      refusal_of([&] {
        matrix->update(target, classes({-1, 0}));
      }),
      refusal_of([&] {
        matrix->update(torch::rand({2, 2}), target);
      }),
      refusal_of([&] {
        matrix->update(torch::full({2, 3}, kNoValue), target);
      }),
      refusal_of([&] { matrix->update(target, classes({0})); }),
      refusal_of([&] { ConfusionMatrix(0); }),
      refusal_of([&] { matrix->merge(*ConfusionMatrix(4)); }),
  };
  EXPECT_THAT(refusals, testing::Each(testing::StartsWith("ConfusionMatrix ")));
  EXPECT_THAT(refusals[0], testing::HasSubstr("a prediction of class 3"));
  EXPECT_THAT(refusals[1], testing::HasSubstr("a target of class 3"));
  EXPECT_THAT(refusals[7], testing::HasSubstr("4"));
  EXPECT_EQ(matrix->matrix().sum().item<std::int64_t>(), 0);
}

TEST(MetricModuleTest, KeepsItsTypesWhereTheModuleIsGivenAnother) {
  Measured measured;
  measured.update();
  measured.to(torch::kHalf);
  measured.to(torch::kCPU, torch::kBFloat16);
  measured.update();
  EXPECT_EQ(measured.accuracy->buffers().at(0).scalar_type(), torch::kInt64);
  EXPECT_EQ(measured.mean->buffers().at(0).scalar_type(), torch::kFloat64);
  EXPECT_EQ(measured.matrix->matrix().scalar_type(), torch::kInt64);
  EXPECT_EQ(measured.mean->compute(), 2.5);
  EXPECT_EQ(measured.accuracy->compute(), 2.0 / 3);
}

TEST(MetricModuleTest, IsSavedAndLoadedWithTheModuleItIsIn) {
  Measured measured;
  measured.update();
  std::stringstream bytes;
  torch::serialize::OutputArchive out;
  measured.save(out);
  out.save_to(bytes);
  Measured other;
  torch::serialize::InputArchive in;
  in.load_from(bytes);
  other.load(in);
  EXPECT_EQ(other.mean->compute(), 2.5);
  EXPECT_EQ(other.accuracy->compute(), 2.0 / 3);
  EXPECT_TRUE(torch::equal(other.matrix->matrix(), measured.matrix->matrix()));
  other.update();
  EXPECT_EQ(other.matrix->matrix().sum().item<std::int64_t>(), 6);
}

TEST(MetricModuleTest, MovesToAnAcceleratorWithTheModuleItIsIn) {
  if (!torch::cuda::is_available()) {
    GTEST_SKIP() << "there is no accelerator here";
  }
  Measured measured;
  measured.update();
  measured.to(torch::kCUDA);
  measured.update();
  EXPECT_TRUE(measured.matrix->matrix().is_cuda());
  EXPECT_EQ(measured.mean->compute(), 2.5);
  EXPECT_EQ(measured.accuracy->compute(), 2.0 / 3);
  EXPECT_EQ(measured.matrix->accuracy(), 2.0 / 3);
  Measured here;
  here.matrix->merge(*measured.matrix);
  EXPECT_EQ(here.matrix->matrix().sum().item<std::int64_t>(), 6);
}

TEST(MetricModuleTest, KeepsNoHistoryAndHasNothingToTrain) {
  Measured measured;
  const torch::Tensor scores = torch::rand({3, 3}).requires_grad_();
  measured.mean->update(scores.sum() * 2);
  measured.mean->update(scores * 2, scores * 3);
  measured.accuracy->update(scores * 2, classes({0, 1, 2}));
  measured.matrix->update(scores * 2, classes({0, 1, 2}));
  EXPECT_TRUE(measured.parameters().empty());
  EXPECT_EQ(measured.buffers().size(), 5U);
  for (const torch::Tensor& buffer : measured.buffers()) {
    EXPECT_FALSE(buffer.requires_grad());
  }
  EXPECT_TRUE(torch::GradMode::is_enabled());
}

TEST(MetricModuleTest, WorksInsideAFit) {
  struct Measures : TinyModule {
    Accuracy accuracy = register_module("accuracy", Accuracy());
    void on_validation_epoch_start() override { accuracy->reset(); }
    void validation_step(const Batch& batch, std::int64_t) override {
      accuracy->update(out(hidden(batch.data)), batch.target);
    }
    void on_validation_epoch_end() override {
      log("accuracy", accuracy->compute());
    }
  };
  TinyWorld world;
  Measures module;
  TrainerOptions options;
  const Metrics metrics = Engine(options).validate(module, world.data);
  ASSERT_TRUE(metrics.contains("accuracy"));
  const torch::Tensor right = module.out(module.hidden(world.data.images))
                                  .argmax(1)
                                  .eq(world.data.labels);
  EXPECT_EQ(metrics.at("accuracy"),
            right.to(torch::kFloat64).mean().item<double>());
}

TEST(SeedEverythingTest, SeedsLibTorchAndTheCLibrary) {
  seed_everything(11);
  const torch::Tensor first = torch::rand({4});
  const int number = std::rand();
  EXPECT_FALSE(torch::equal(torch::rand({4}), first));
  seed_everything(11);
  EXPECT_TRUE(torch::equal(torch::rand({4}), first));
  EXPECT_EQ(std::rand(), number);
  seed_everything(12);
  EXPECT_FALSE(torch::equal(torch::rand({4}), first));
  EXPECT_NE(std::rand(), number);
}

}  // namespace
}  // namespace mishap::engine_test
