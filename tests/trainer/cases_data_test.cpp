#include <cmath>

#include "cases_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using CasesA = Cases;
using CasesB = Cases;

// A1
TEST_F(CasesA, ShapeMismatchLeadsToTheModelsForwardInEveryEntryPoint) {
  const std::map<std::string, std::pair<std::string, std::string>> places = {
      {"fit", {"train", "training_step"}},
      {"validate", {"validate", "validation_step"}},
      {"test", {"test", "test_step"}},
      {"predict", {"predict", "predict_step"}}};
  for (const auto& [name, call] : trainer_calls()) {
    SCOPED_TRACE(name);
    TinyWorld world;
    user_code::Model model;
    world.data.images = torch::rand({4, 5});
    Trainer failing = make_trainer(trained(world));
    json record = record_of([&] { call(failing, model, world.data); });
    expect_thrown(record, "c10::Error", "cannot be multiplied");
    EXPECT_EQ(record["entry_point"], name);
    expect_place(record, places.at(name).first, places.at(name).second);
    EXPECT_EQ(record["batch_index"], 0);
    EXPECT_EQ(record["batch"][0]["shape"], json::array({2, 5}));
    EXPECT_EQ(record["batch"][0]["device"], "cpu");
    EXPECT_THAT(first_in_app(record), HasSubstr("Model::forward"));
    expect_cleaned_up(world, model);
  }
}

// A2
TEST_F(CasesA, LabelsThatDoNotFitTheShortLastBatchNameItsIndex) {
  TinyWorld world;
  world.data.images = torch::rand({5, 3});
  world.data.labels = torch::zeros({5}, torch::kInt64);
  user_code::Computes model([](TinyModule& tiny, const Batch& batch) {
    return torch::cross_entropy_loss(tiny.out(tiny.hidden(batch.data)),
                                     torch::zeros({2}, torch::kInt64));
  });
  json record = record_of_fit(world, model);
  expect_thrown(record, "c10::ValueError", "to match target batch_size");
  expect_place(record, "train", "training_step");
  EXPECT_EQ(record["batch_index"], 2);
  EXPECT_EQ(record["global_step"], 2);
  EXPECT_EQ(record["batch"][0]["shape"], json::array({1, 3}));
}

// A3
TEST_F(CasesA, LabelOutOfRangeIsInTheRangeOfTheRecordedBatch) {
  for (const char* entry_point : {"fit", "validate"}) {
    SCOPED_TRACE(entry_point);
    TinyWorld world;
    world.data.labels = torch::tensor({0, 1, 1, 7}, torch::kInt64);
    world.data.options.batch_size = 4;
    Trainer failing = make_trainer(trained(world));
    json record = record_of([&] {
      trainer_calls().at(entry_point)(failing, world.module, world.data);
    });
    expect_thrown(record, "c10::IndexError", "Target 7 is out of bounds");
    EXPECT_EQ(record["entry_point"], entry_point);
    EXPECT_EQ(record["batch_index"], 0);
    EXPECT_EQ(record["batch"][1]["name"], "target");
    EXPECT_EQ(record["batch"][1]["min"], 0);
    EXPECT_EQ(record["batch"][1]["max"], 7);
  }
}

// A3
TEST_F(CasesA, IndexBeyondAnEmbeddingIsAnIndexError) {
  TinyWorld world;
  user_code::Computes model([](TinyModule&, const Batch&) {
    return torch::embedding(torch::ones({4, 2}),
                            torch::tensor({9}, torch::kInt64));
  });
  json record = record_of_fit(world, model);
  expect_thrown(record, "c10::IndexError", "index out of range in self");
}

// A6
TEST_F(CasesA, IntegerDivisionByZeroIsAnErrorWhoseTextIsNoType) {
  TinyWorld world;
  world.module.in_training_step = [](std::int64_t) {
    torch::ones({2}, torch::kInt64).floor_divide(0);
  };
  json record = record_of_fit(world, world.module);
  expect_thrown(record, "c10::Error", "ZeroDivisionError");
  expect_place(record, "train", "training_step");
}

// A7
TEST_F(CasesA, LossThatTurnsNanIsToldInTheRecordOfItsStep) {
  TinyWorld world;
  user_code::Computes model(
      [calls = 0](TinyModule& tiny, const Batch& batch) mutable {
        return tiny.loss_of(batch) * (++calls == 3 ? std::nan("") : 1.0);
      });
  json record = record_of_fit(world, model);
  expect_thrown(record, "mishap::NonFinite", "the loss is NaN at step 2");
  expect_place(record, "train", "training_step");
  EXPECT_EQ(record["epoch"], 1);
  EXPECT_EQ(record["batch_index"], 0);
  EXPECT_EQ(record["global_step"], 2);
  EXPECT_EQ(record["weights"], "consistent");
}

// A8
TEST_F(CasesA, AnomalyModeIsOffAgainAndItsErrorIsNoC10Error) {
  TinyWorld world;
  user_code::Computes model([](TinyModule& tiny, const Batch& batch) {
    return torch::sqrt(tiny.loss_of(batch) * 0.0 - 1.0) * 0.0;
  });
  TrainerOptions options = trained(world);
  options.detect_anomaly = true;
  options.on_non_finite = OnNonFinite::kIgnore;
  json record =
      record_of([&] { make_trainer(options).fit(model, world.data); });
  expect_thrown(record, "std::runtime_error", "returned nan values");
  expect_place(record, "train", "backward");
  EXPECT_FALSE(torch::autograd::AnomalyMode::is_enabled());
  expect_cleaned_up(world, model);
}

// A8. Product gap: nobody fills modes.anomaly.
TEST_F(CasesA, AnomalyModeIsInTheRecordOfARunThatHasItOn) {
  struct TurnsAnomalyOn : TinyModule {
    void on_train_start() override {
      torch::autograd::AnomalyMode::set_enabled(true);
    }
    torch::Tensor training_step(const Batch&, std::int64_t) override {
      throw std::runtime_error("watched");
    }
  } module;
  TinyWorld world;
  json record = record_of_fit(world, module);
  EXPECT_EQ(record["modes"]["anomaly"], true);
  EXPECT_FALSE(torch::autograd::AnomalyMode::is_enabled());
}

// A9
TEST_F(CasesA, BatchNormWithALastBatchOfOneFailsInFitOnly) {
  struct Normalised : TinyModule {
    torch::nn::BatchNorm1d norm =
        register_module("norm", torch::nn::BatchNorm1d(3));
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      return out(hidden(norm(batch.data))).sum();
    }
    void validation_step(const Batch& batch, std::int64_t) override {
      log("sum", norm(batch.data).sum());
    }
  } module;
  TinyWorld world;
  world.data.options.batch_size = 3;
  Trainer trainer = make_trainer(trained(world));
  json record = record_of([&] { trainer.fit(module, world.data); });
  expect_thrown(record, "c10::Error", "more than 1 value per channel");
  EXPECT_EQ(record["batch_index"], 1);
  EXPECT_EQ(record["modes"]["training"], true);
  EXPECT_EQ(record["batch"][0]["shape"], json::array({1, 3}));
  expect_cleaned_up(world, module);
  EXPECT_EQ(trainer.validate(module, world.data).count("sum"), 1U);
}

// A11
TEST_F(CasesA, CpuOutOfMemoryNamesTheBytesAndMemoryIsThereAgain) {
  constexpr std::int64_t kBytes = std::int64_t{1} << 60;
  TinyWorld world;
  world.module.in_training_step = [](std::int64_t) {
    torch::empty({kBytes}, torch::kByte);
  };
  json record = record_of_fit(world, world.module);
  expect_thrown(record, "c10::Error", "DefaultCPUAllocator");
  expect_thrown(record, "c10::Error", std::to_string(kBytes));
  EXPECT_EQ(torch::ones({1 << 16}).sum().item<double>(), 1 << 16);
  world.module.in_training_step = nullptr;
  make_trainer(trained(world)).fit(world.module, world.data);
}

// A12
TEST_F(CasesA, SimulatedCudaOutOfMemoryInValidationIsMarkedAsInjected) {
  json record = record_with(
      "hook/validation_step/module=1*throw(oom, \"CUDA out of memory. Tried "
      "to allocate 2.00 GiB\")",
      "validate");
  expect_thrown(record, "c10::OutOfMemoryError", "CUDA out of memory");
  expect_place(record, "validate", "validation_step");
  EXPECT_EQ(record["fault"]["status"], "armed");
  EXPECT_EQ(record["fault"]["point"], "hook/validation_step/module");
  EXPECT_EQ(record["fault"]["hit"], 1);
}

// A12, H46
TEST_F(CasesA, NothingKeepsAnErrorAliveOnceTheCallerDroppedIt) {
  struct HoldsActivations : std::runtime_error {
    explicit HoldsActivations(std::shared_ptr<torch::Tensor> held_)
        : std::runtime_error("out of memory"), held(std::move(held_)) {}
    std::shared_ptr<torch::Tensor> held;
  };
  std::weak_ptr<torch::Tensor> watched;
  TinyWorld world;
  world.module.in_training_step = [&](std::int64_t) {
    auto held = std::make_shared<torch::Tensor>(torch::ones({1024}));
    watched = held;
    throw HoldsActivations(std::move(held));
  };
  Trainer trainer = make_trainer(trained(world));
  record_of([&] { trainer.fit(world.module, world.data); });
  EXPECT_FALSE(watched.expired());
  for (Calls* calls : {&world.first->calls, &world.second->calls,
                       &world.data.calls, &world.module.calls}) {
    calls->error = nullptr;
  }
  error_ = nullptr;
  EXPECT_TRUE(watched.expired());
}

// A12: the same type, place and step come out of the record's own spec.
TEST_F(CasesA, EachTypeOfLibTorchIsRepeatedByTheSpecOfItsRecord) {
  for (const char* type : {"c10", "c10_index", "c10_value", "oom"}) {
    SCOPED_TRACE(type);
    json first = record_with(
        std::string("hook/training_step/module=2*off->throw(") + type + ")",
        "fit");
    json again = record_with(first["fault"]["spec"].get<std::string>(), "fit");
    EXPECT_EQ(again["exceptions"][0]["type"], first["exceptions"][0]["type"]);
    for (const char* key : {"stage", "hook", "component", "epoch",
                            "batch_index", "global_step"}) {
      EXPECT_EQ(again[key], first[key]) << key;
    }
    EXPECT_EQ(first["global_step"], 2);
  }
}

// A15
TEST_F(CasesA, NoCudaIsRecordedWhicheverCallAsksForIt) {
  if (torch::cuda::is_available()) {
    GTEST_SKIP() << "this machine has a CUDA device";
  }
  const std::vector<std::function<void()>> calls = {
      [] { torch::ones({2}, torch::kCUDA); },
      [] { torch::ones({2}).to(torch::kCUDA); },
      [] { torch::cuda::synchronize(); }};
  for (const std::function<void()>& call : calls) {
    TinyWorld world;
    world.module.in_training_step = [&](std::int64_t) { call(); };
    json record = record_of_fit(world, world.module);
    json& thrown = record["exceptions"][0];
    EXPECT_THAT(thrown["type"].get<std::string>(), StartsWith("c10::"));
    EXPECT_LE(thrown["message"].get<std::string>().size(), 8192U);
    EXPECT_EQ(record["device"].size(), 1U);
    EXPECT_EQ(record["device"][0]["name"], "cpu");
  }
}

// A16
TEST_F(CasesA, AccessorOfTheWrongTypeOrRankIsAnOrdinaryError) {
  const torch::Tensor line = torch::ones({2});
  const std::vector<std::pair<std::string, std::function<void()>>> misuses = {
      {"expected scalar type Double but found Float",
       [&] { line.accessor<double, 1>(); }},
      {"expected 2 dims but tensor has 1", [&] { line.accessor<float, 2>(); }}};
  for (const auto& [text, misuse] : misuses) {
    TinyWorld world;
    world.module.in_training_step = [&](std::int64_t) { misuse(); };
    json record = record_of_fit(world, world.module);
    expect_thrown(record, "c10::Error", text);
    expect_place(record, "train", "training_step");
  }
}

// B1
TEST_F(CasesB, ErrorInAUsersBackwardKeepsItsTypeAndLeadsThere) {
  TinyWorld world;
  user_code::Computes model([](TinyModule& tiny, const Batch& batch) {
    return user_code::ThrowsInBackward::apply(
        tiny.out(tiny.hidden(batch.data)).sum());
  });
  json record = record_of_fit(world, model);
  expect_thrown(record, "std::out_of_range", "in my backward");
  expect_place(record, "train", "backward");
  EXPECT_THAT(first_in_app(record), HasSubstr("ThrowsInBackward::backward"));
}

// B2
TEST_F(CasesB, WrongGradientsKeepTheirTwoTypes) {
  TinyWorld shape_world;
  user_code::Computes wrong_shape([](TinyModule& tiny, const Batch&) {
    return user_code::GivesWrongShape::apply(tiny.hidden->bias);
  });
  json record = record_of_fit(shape_world, wrong_shape);
  expect_thrown(record, "c10::Error", "invalid gradient at index 0");
  expect_place(record, "train", "backward");

  TinyWorld count_world;
  user_code::Computes too_few([](TinyModule& tiny, const Batch&) {
    return user_code::GivesTooFew::apply(tiny.hidden->bias,
                                         tiny.hidden->bias * 2);
  });
  record = record_of_fit(count_world, too_few);
  expect_thrown(record, "std::runtime_error", "incorrect number of gradients");
  expect_place(record, "train", "backward");
}

// B5
TEST_F(CasesB, GradientsLeftOffAreInTheRecordOfTheErrorThatFollows) {
  struct LeavesGradientsOff : TinyModule {
    torch::Tensor training_step(const Batch& batch,
                                std::int64_t index) override {
      torch::GradMode::set_enabled(false);
      return TinyModule::training_step(batch, index);
    }
  } module;
  TinyWorld world;
  json record = record_of_fit(world, module);
  expect_thrown(record, "c10::Error", "does not require grad");
  expect_place(record, "train", "backward");
  EXPECT_EQ(record["modes"]["grad_enabled"], false);
  EXPECT_EQ(record["modes"]["inference_mode"], false);
}

// B8
TEST_F(CasesB, OptimizerOverATensorThatIsNoLeafFailsWhereItIsMade) {
  struct NoLeaf : TinyModule {
    Optimizers configure_optimizers() override {
      return torch::optim::SGD({hidden->weight * 2}, 0.1);
    }
  } module;
  TinyWorld world;
  json record = record_of_fit(world, module);
  expect_thrown(record, "c10::Error", "can't optimize a non-leaf Tensor");
  expect_place(record, "setup", "configure_optimizers");
}

}  // namespace
}  // namespace mishap::engine_test
