#include "engine_support.h"

namespace mishap::engine_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Plain SGD and no dropout, so that sums can be compared.
struct Plain : TinyModule {
  Plain() { dropout->options.p(0); }
  Optimizers configure_optimizers() override {
    return torch::optim::SGD(parameters(), 0.1);
  }
};

TrainerOptions quiet(std::int64_t epochs) {
  TrainerOptions options;
  options.max_epochs = epochs;
  options.num_sanity_val_steps = 0;
  options.limit_val_batches = 0;
  options.seed = 7;
  return options;
}

template <class M>
void give_weights(M& module) {
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : module.parameters()) {
    parameter.uniform_(-0.5, 0.5);
  }
}

template <class M>
torch::Tensor trained(const TrainerOptions& options, TinyData& data,
                      M& module) {
  give_weights(module);
  Engine(options).fit(module, data);
  return weights_of(module);
}

// -- accumulation -----------------------------------------------------------

TEST(Accumulation, WindowOfTwoEqualsABatchOfTwiceTheSize) {
  TinyData small;
  small.options.batch_size = 1;
  TinyData large;
  large.options.batch_size = 2;
  TrainerOptions accumulating = quiet(2);
  accumulating.accumulate_grad_batches = 2;
  Plain one;
  Plain other;
  EXPECT_TRUE(trained(accumulating, small, one)
                  .allclose(trained(quiet(2), large, other), 1e-5, 1e-7));
}

// Counts what happens around updates.
struct Counts : Callback {
  void on_before_zero_grad(Session&, torch::optim::Optimizer&) override {
    ++cleared;
  }
  void on_before_optimizer_step(Session&, torch::optim::Optimizer&) override {
    ++updates;
  }
  void on_train_batch_end(Session& session, const torch::Tensor&, const Batch&,
                          std::int64_t) override {
    steps.push_back(session.place().step);
  }
  int cleared = 0;
  int updates = 0;
  std::vector<std::int64_t> steps;
};

TEST(Accumulation, LastWindowOfAnEpochEndsWithIt) {
  TinyData data;
  data.options.batch_size = 1;
  const auto counts = std::make_shared<Counts>();
  TrainerOptions options = quiet(2);
  options.accumulate_grad_batches = 3;
  options.callbacks = {counts};
  Plain module;
  trained(options, data, module);
  EXPECT_EQ(counts->updates, 4);
  EXPECT_EQ(counts->cleared, 4);
  EXPECT_THAT(counts->steps, ElementsAre(0, 0, 1, 2, 2, 2, 3, 4));
}

// A loader that does not know its size: the window is ended behind the last
// batch.
TEST(Accumulation, EndsAWindowThatNobodySawComing) {
  struct Unsized : Loader {
    explicit Unsized(LoaderPtr below_) : below(std::move(below_)) {}
    void start(std::int64_t pass) override { below->start(pass); }
    std::optional<Batch> next() override { return below->next(); }
    LoaderPtr below;
  };
  struct UnsizedData : TinyData {
    LoaderPtr train_dataloader() override {
      return std::make_unique<Unsized>(TinyData::train_dataloader());
    }
  };
  UnsizedData data;
  data.options.batch_size = 1;
  const auto counts = std::make_shared<Counts>();
  TrainerOptions options = quiet(1);
  options.accumulate_grad_batches = 3;
  options.callbacks = {counts};
  Plain module;
  Plain sized;
  TinyData known;
  known.options.batch_size = 1;
  const torch::Tensor weights = trained(options, data, module);
  EXPECT_EQ(counts->updates, 2);
  EXPECT_TRUE(weights.equal(trained(options, known, sized)));
}

// -- optimisation by hand ---------------------------------------------------

struct ByHand : Plain {
  bool automatic_optimization() const override { return false; }
  torch::Tensor training_step(const Batch& batch, std::int64_t index) override {
    if (in_training_step) {
      in_training_step(index);
    }
    const torch::Tensor loss = loss_of(batch);
    manual_zero_grad();
    manual_backward(loss);
    manual_step();
    return loss;
  }
};

TEST(ManualOptimization, DoesWhatTheAutomaticOneDoes) {
  TinyData data;
  Plain automatic;
  ByHand by_hand;
  const auto counts = std::make_shared<Counts>();
  TrainerOptions options = quiet(2);
  const torch::Tensor expected = trained(options, data, automatic);
  options.callbacks = {counts};
  EXPECT_TRUE(trained(options, data, by_hand).equal(expected));
  EXPECT_EQ(counts->updates, 4);
  EXPECT_THAT(counts->steps, ElementsAre(1, 2, 3, 4));
}

struct TwoOptimizers : ByHand {
  torch::Tensor training_step(const Batch& batch, std::int64_t) override {
    for (const std::size_t i : {0, 1}) {
      manual_zero_grad(i);
      manual_backward(loss_of(batch));
      manual_step(i);
    }
    return {};
  }
  Optimizers configure_optimizers() override {
    return Optimizers(torch::optim::SGD(hidden->parameters(), 0.1))
        .add(torch::optim::Adam(out->parameters(), 0.1));
  }
};

TEST(ManualOptimization, StepsEachOfSeveralOptimizers) {
  TinyData data;
  TwoOptimizers module;
  give_weights(module);
  const torch::Tensor before = weights_of(module);
  const auto counts = std::make_shared<Counts>();
  TrainerOptions options = quiet(1);
  options.callbacks = {counts};
  HookTrace trace;
  Engine(options).fit(module, data, watched_by(trace));
  EXPECT_FALSE(weights_of(module).equal(before));
  EXPECT_EQ(counts->updates, 4);
  EXPECT_THAT(trace.points, Contains("backward/module"));
  EXPECT_THAT(trace.points,
              Not(Contains("configure_gradient_clipping/module")));
}

// Case F3 of its kind: a failure between two updates of one batch.
TEST(ManualOptimization, FailureBetweenTwoUpdatesHasItsPlace) {
  struct FailsBetween : TwoOptimizers {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      manual_zero_grad(0);
      manual_backward(loss_of(batch));
      manual_step(0);
      throw std::runtime_error("between");
    }
  };
  TinyData data;
  FailsBetween module;
  const auto error = caught([&] { Engine(quiet(1)).fit(module, data); });
  EXPECT_EQ(message_of(error), "between");
  EXPECT_EQ(module.calls.place.hook, Hook::kTrainingStep);
  EXPECT_EQ(module.calls.place.step, 1);
}

template <class M>
std::string refusal(const TrainerOptions& options) {
  TinyData data;
  M module;
  const auto error = caught([&] { Engine(options).fit(module, data); });
  EXPECT_NE(error, nullptr);
  return error == nullptr ? "" : message_of(error);
}

TEST(ManualOptimization, MistakesAreRefusedInWords) {
  struct Both : TwoOptimizers {
    bool automatic_optimization() const override { return true; }
  };
  EXPECT_THAT(refusal<Both>(quiet(1)), HasSubstr("returned 2 optimizers"));

  TrainerOptions clipping = quiet(1);
  clipping.gradient_clip_norm = 1;
  EXPECT_THAT(refusal<ByHand>(clipping), HasSubstr("optimises by hand"));

  struct Beyond : ByHand {
    torch::Tensor training_step(const Batch&, std::int64_t) override {
      manual_step(1);
      return {};
    }
  };
  EXPECT_THAT(refusal<Beyond>(quiet(1)), HasSubstr("optimizer(1)"));

  struct Automatic : Plain {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      manual_backward(loss_of(batch));
      return {};
    }
  };
  EXPECT_THAT(refusal<Automatic>(quiet(1)), HasSubstr("manual_backward()"));
}

// -- learning rates ---------------------------------------------------------

TEST(Plateau, LowersTheRateWhenTheMetricStops) {
  struct Watched : Plain {
    void on_train_epoch_end() override { log("score", 1.0); }
    Optimizers configure_optimizers() override {
      return Optimizers(torch::optim::SGD(parameters(), 0.1))
          .reduce_on_plateau({.monitor = "score",
                              .factor = 0.5,
                              .patience = 1,
                              .min_lr = 0.03});
    }
    void on_train_batch_end(const torch::Tensor&, const Batch&,
                            std::int64_t index) override {
      if (index == 0) {
        rates.push_back(optimizer().param_groups()[0].options().get_lr());
      }
    }
    std::vector<double> rates;
  };
  TinyData data;
  Watched module;
  Engine(quiet(8)).fit(module, data);
  // Best at epoch 0; two epochs without improvement lower it.
  EXPECT_THAT(module.rates,
              ElementsAre(0.1, 0.1, 0.1, 0.05, 0.05, 0.03, 0.03, 0.03));
}

TEST(Plateau, MistakesAreRefusedInWords) {
  struct Unlogged : Plain {
    Optimizers configure_optimizers() override {
      return Optimizers(torch::optim::SGD(parameters(), 0.1))
          .reduce_on_plateau({.monitor = "lost"});
    }
  };
  EXPECT_THAT(refusal<Unlogged>(quiet(1)), HasSubstr("'lost'"));
  struct Unnamed : Plain {
    Optimizers configure_optimizers() override {
      return Optimizers(torch::optim::SGD(parameters(), 0.1))
          .reduce_on_plateau({});
    }
  };
  EXPECT_THAT(refusal<Unnamed>(quiet(1)), HasSubstr("monitor is empty"));
}

}  // namespace
}  // namespace mishap::engine_test
