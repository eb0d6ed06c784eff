#pragma once

#include <mishap/collector/demangle.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/faultinject/torch/throw_types.h>
#include <mishap/trainer/engine/make_loader.h>
#include <mishap/trainer/harness/contract/resources.h>
#include <mishap/trainer/trainer.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../temp_folder.h"
#include "engine_support.h"

// Code of a user, outside of mishap, so that its frames are in-app.
namespace user_code {

using mishap::Batch;
using mishap::engine_test::TinyData;
using mishap::engine_test::TinyModule;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

struct Model : TinyModule {
  [[gnu::noinline]] torch::Tensor forward(const torch::Tensor& data) {
    return out(torch::relu(hidden(data)));
  }
  torch::Tensor training_step(const Batch& batch, std::int64_t) override {
    return torch::cross_entropy_loss(forward(batch.data), batch.target);
  }
  void validation_step(const Batch& batch, std::int64_t) override {
    log("sum", forward(batch.data).sum());
  }
  void test_step(const Batch& batch, std::int64_t) override {
    log("sum", forward(batch.data).sum());
  }
  torch::Tensor predict_step(const Batch& batch, std::int64_t) override {
    return forward(batch.data);
  }
};

// A model whose loss is whatever a test says.
struct Computes : TinyModule {
  using Step = std::function<torch::Tensor(TinyModule&, const Batch&)>;
  explicit Computes(Step step_) : step(std::move(step_)) {}
  torch::Tensor training_step(const Batch& batch, std::int64_t) override {
    return step(*this, batch);
  }
  Step step;
};

struct ThrowsInBackward : torch::autograd::Function<ThrowsInBackward> {
  static torch::Tensor forward(AutogradContext*, const torch::Tensor& input) {
    return input.clone();
  }
  [[gnu::noinline]] static tensor_list backward(AutogradContext*, tensor_list) {
    throw std::out_of_range("in my backward");
  }
};

struct GivesWrongShape : torch::autograd::Function<GivesWrongShape> {
  static torch::Tensor forward(AutogradContext*, const torch::Tensor& input) {
    return input.sum();
  }
  static tensor_list backward(AutogradContext*, tensor_list) {
    return {torch::ones({7})};
  }
};

struct GivesTooFew : torch::autograd::Function<GivesTooFew> {
  static torch::Tensor forward(AutogradContext*, const torch::Tensor& left,
                               const torch::Tensor& right) {
    return (left + right).sum();
  }
  static tensor_list backward(AutogradContext*, tensor_list) {
    return {torch::ones({4})};
  }
};

// Samples that a worker makes; `look` may throw or take its time.
struct Samples : torch::data::datasets::Dataset<Samples> {
  torch::data::Example<> get(std::size_t index) override {
    if (look) {
      look(index);
    }
    return {torch::ones({width ? width(index) : 3}),
            torch::tensor(static_cast<std::int64_t>(index % 2))};
  }
  mishap::compat::DatasetSize size() const override { return 8; }

  std::function<void(std::size_t)> look;
  std::function<std::int64_t(std::size_t)> width;
};

[[gnu::noinline]] inline void refuse_sample_five(std::size_t index) {
  if (index == 5) {
    throw std::out_of_range("bad sample 5");
  }
}

struct LoadedData : TinyData {
  explicit LoadedData(std::int64_t workers) {
    loading = {.batch_size = 2, .workers = workers};
  }
  mishap::LoaderPtr train_dataloader() override {
    return mishap::make_loader(samples, loading);
  }
  mishap::LoaderPtr val_dataloader() override {
    return mishap::make_loader(val_samples, loading);
  }
  Samples samples;
  Samples val_samples;
  mishap::LoaderOptions loading;
};

}  // namespace user_code

namespace mishap::engine_test {

using nlohmann::json;

inline std::string type_of(const std::exception_ptr& error) {
  return collector::type_name(*error.__cxa_exception_type());
}

using TrainerCall = std::function<void(Trainer&, TinyModule&, TinyData&)>;

inline const std::map<std::string, TrainerCall>& trainer_calls() {
  static const std::map<std::string, TrainerCall> all = {
      {"fit", [](Trainer& trainer, TinyModule& module,
                 TinyData& data) { trainer.fit(module, data); }},
      {"validate", [](Trainer& trainer, TinyModule& module,
                      TinyData& data) { trainer.validate(module, data); }},
      {"test", [](Trainer& trainer, TinyModule& module,
                  TinyData& data) { trainer.test(module, data); }},
      {"predict", [](Trainer& trainer, TinyModule& module,
                     TinyData& data) { trainer.predict(module, data); }},
  };
  return all;
}

// The options of a world, without the sanity check.
inline TrainerOptions trained(const TinyWorld& world) {
  TrainerOptions options = world.options();
  options.num_sanity_val_steps = 0;
  return options;
}

inline void expect_thrown(json record, const std::string& type,
                          const std::string& text, std::size_t cause = 0) {
  json& thrown = record["exceptions"][cause];
  EXPECT_EQ(thrown["type"], type);
  EXPECT_THAT(thrown["message"].dump(), ::testing::HasSubstr(text));
  EXPECT_EQ(thrown["stack"]["origin"], "throw");
}

inline void expect_place(json record, const std::string& stage,
                         const std::string& hook,
                         const std::string& component = "module") {
  EXPECT_EQ(record["stage"], stage);
  EXPECT_EQ(record["hook"], hook);
  EXPECT_EQ(record["component"], component);
}

// The innermost function of the user's on the stack of a cause.
inline std::string first_in_app(json record, std::size_t cause = 0) {
  for (json& frame : record["exceptions"][cause]["stack"]["frames"]) {
    if (frame["in_app"] == true) {
      return frame["function"].get<std::string>();
    }
  }
  return "no frame of the user";
}

// Every component of one failed call was told once and torn down once.
inline void expect_cleaned_up(const TinyWorld& world, const TinyModule& module,
                              FinalWord word = FinalWord::kFailed) {
  const std::vector<const Calls*> all = {&world.first->calls,
                                         &world.second->calls,
                                         &world.data.calls, &module.calls};
  for (const Calls* calls : all) {
    EXPECT_EQ(calls->told, 1);
    EXPECT_EQ(calls->teardown, 1);
    EXPECT_EQ(calls->ends_after_told, 0);
  }
  EXPECT_THAT(world.logger->words, ::testing::ElementsAre(word));
  EXPECT_EQ(Session::current(), nullptr);
  EXPECT_TRUE(torch::GradMode::is_enabled());
}

class Cases : public ::testing::Test {
 protected:
  Cases() {
    harness_.capture.records = temporary_.path();
    harness_.capture.report_on_stderr = false;
    faultinject::register_torch_throw_types();
  }

  Trainer make_trainer(TrainerOptions options) const {
    return Trainer(std::move(options), harness_);
  }

  std::vector<json> records() const {
    std::vector<json> all;
    std::ifstream in(std::filesystem::path(temporary_.path()) /
                     "records.jsonl");
    for (std::string line; std::getline(in, line);) {
      all.push_back(json::parse(line));
    }
    return all;
  }

  // The one record of a call that has to fail, whose outermost exception is
  // what the caller caught.
  template <class Call>
  json record_of(Call call) {
    const std::size_t before = records().size();
    error_ = caught(call);
    const std::vector<json> all = records();
    EXPECT_TRUE(error_) << "the call went well";
    EXPECT_EQ(all.size(), before + 1);
    json record = all.empty() ? json() : all.back();
    if (error_) {
      EXPECT_EQ(record["exceptions"][0]["type"], type_of(error_));
    }
    return record;
  }

  // The record of a fit of that module that has to fail and be cleaned up.
  json record_of_fit(TinyWorld& world, TinyModule& module) {
    json record = record_of(
        [&] { make_trainer(trained(world)).fit(module, world.data); });
    EXPECT_EQ(record["entry_point"], "fit");
    expect_cleaned_up(world, module);
    return record;
  }

  json record_with(const std::string& plan, const std::string& entry_point) {
    TinyWorld world;
    const faultinject::Scenario armed = faultinject::arm(
        faultinject::Plan::parse(plan), faultinject::Scope::process());
    return record_of([&] {
      Trainer failing = make_trainer(world.options());
      trainer_calls().at(entry_point)(failing, world.module, world.data);
    });
  }

  mishap::testing::TempFolder temporary_;
  HarnessOptions harness_;
  std::exception_ptr error_;
};

// A moment of a call, as a fault point, and the stage that it belongs to.
struct Moment {
  std::string entry_point;
  std::string hook;
  std::string hits_before;
  std::string stage;

  std::string plan(const std::string& action) const {
    return "hook/" + hook + "/module=" + hits_before + "1*" + action;
  }
};

inline const std::vector<Moment>& moments() {
  static const std::vector<Moment> all = {
      {"fit", "setup", "", "setup"},
      {"fit", "configure_optimizers", "", "setup"},
      {"fit", "validation_step", "", "sanity_check"},
      {"fit", "on_train_start", "", "train"},
      {"fit", "training_step", "", "train"},
      {"fit", "validation_step", "1*off->", "validate"},
      {"fit", "on_train_end", "", "train"},
      {"fit", "teardown", "", "teardown"},
      {"validate", "setup", "", "setup"},
      {"validate", "validation_step", "", "validate"},
      {"test", "test_step", "", "test"},
      {"predict", "predict_step", "", "predict"},
      {"predict", "teardown", "", "teardown"}};
  return all;
}

}  // namespace mishap::engine_test
