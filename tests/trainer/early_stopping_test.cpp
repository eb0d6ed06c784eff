#include <mishap/trainer/engine/callbacks/early_stopping.h>
#include <mishap/trainer/engine/callbacks/lambda_callback.h>

#include <limits>

#include "scripted_module.h"

namespace mishap::engine_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Stopped {
  std::shared_ptr<EarlyStopping> callback;
  std::size_t epochs = 0;
};

using Adjust = std::function<void(TrainerOptions&, TinyWorld&)>;

// What becomes of a fit whose metric takes these values.
Stopped fit_scripted(const std::vector<double>& values,
                     const EarlyStoppingOptions& stopping,
                     const Adjust& adjust = nullptr) {
  TinyWorld world;
  ScriptedModule module(values);
  Stopped stopped;
  stopped.callback = std::make_shared<EarlyStopping>(stopping);
  TrainerOptions options = world.options();
  options.max_epochs = static_cast<std::int64_t>(values.size());
  options.callbacks.push_back(stopped.callback);
  if (adjust) {
    adjust(options, world);
  }
  Engine(options).fit(module, world.data);
  stopped.epochs = world.first->losses.size() / 2;
  return stopped;
}

TEST(EarlyStoppingTest, StopsAfterPatienceChecksWithoutImprovement) {
  struct Case {
    std::vector<double> values;
    std::int64_t patience;
    std::size_t epochs;
  };
  const std::vector<Case> cases = {{{6, 5, 5, 5, 5, 5}, 3, 5},
                                   {{6, 5, 4, 4, 3, 3}, 1, 4},
                                   {{6, 5, 6, 5, 5, 5}, 3, 5},
                                   {{6, 5, 4, 3, 2, 1}, 1, 6}};
  for (const Case& each : cases) {
    const Stopped stopped = fit_scripted(
        each.values, {.monitor = "score", .patience = each.patience});
    EXPECT_EQ(stopped.epochs, each.epochs);
    const bool ran_out = each.epochs == 6;
    EXPECT_EQ(stopped.callback->stopped_epoch(),
              ran_out ? -1 : static_cast<std::int64_t>(each.epochs) - 1);
    EXPECT_EQ(stopped.callback->reason().empty(), ran_out);
    EXPECT_EQ(stopped.callback->wait(), ran_out ? 0 : each.patience);
  }
}

TEST(EarlyStoppingTest, HigherIsBetterWhereItIsSaidToBe) {
  const Stopped stopped = fit_scripted(
      {1, 2, 3, 2, 2, 9},
      {.monitor = "score", .better = Better::kHigher, .patience = 2});
  EXPECT_EQ(stopped.epochs, 5U);
  EXPECT_EQ(stopped.callback->best(), 3);
}

TEST(EarlyStoppingTest, AnImprovementIsLargerThanMinDelta) {
  const EarlyStoppingOptions options{
      .monitor = "score", .min_delta = 0.5, .patience = 2};
  EXPECT_EQ(fit_scripted({5, 4.75, 4.5, 1}, options).epochs, 3U);
  EXPECT_EQ(fit_scripted({5, 4.75, 4.25, 1}, options).epochs, 4U);
}

TEST(EarlyStoppingTest, SanityCheckIsNotLookedAt) {
  const Stopped stopped =
      fit_scripted({6, 5, 4}, {.monitor = "score", .patience = 1});
  EXPECT_EQ(stopped.epochs, 3U);
  EXPECT_EQ(stopped.callback->best(), 4);
}

TEST(EarlyStoppingTest, H17NonFiniteMetricEndsTheFitAtOnce) {
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    const Stopped stopped =
        fit_scripted({3, value, 2}, {.monitor = "score", .patience = 100});
    EXPECT_EQ(stopped.epochs, 2U);
    EXPECT_EQ(stopped.callback->best(), 3);
    EXPECT_THAT(stopped.callback->reason(), testing::HasSubstr("not finite"));
  }
}

TEST(EarlyStoppingTest, A7NanIsNeverAnImprovement) {
  for (const Better better : {Better::kLower, Better::kHigher}) {
    const Stopped stopped =
        fit_scripted({3, kNan, kNan, 3}, {.monitor = "score",
                                          .better = better,
                                          .patience = 2,
                                          .check_finite = false});
    EXPECT_EQ(stopped.epochs, 3U);
    EXPECT_EQ(stopped.callback->best(), 3);
  }
}

TEST(EarlyStoppingTest, ThresholdsEndTheFitAtOnce) {
  const Stopped good =
      fit_scripted({3, 2, 1}, {.monitor = "score", .stopping_threshold = 2});
  EXPECT_EQ(good.epochs, 2U);
  EXPECT_EQ(good.callback->best(), 2);
  EXPECT_THAT(good.callback->reason(), testing::HasSubstr("reaches"));
  const Stopped bad = fit_scripted(
      {3, 10, 11, 1}, {.monitor = "score", .divergence_threshold = 10});
  EXPECT_EQ(bad.epochs, 3U);
  EXPECT_THAT(bad.callback->reason(), testing::HasSubstr("worse than 10"));
}

TEST(EarlyStoppingTest, LooksAtTheEndOfTheTrainingEpochWhenAsked) {
  const EarlyStoppingOptions options{.monitor = "train_score",
                                     .better = Better::kHigher,
                                     .patience = 1,
                                     .on_train_epoch_end = true};
  EXPECT_EQ(fit_scripted({6, 5, 5, 5}, options).epochs, 3U);
}

TEST(EarlyStoppingTest, LooksThereTooWhenTheFitDoesNotValidate) {
  const EarlyStoppingOptions options{
      .monitor = "train_score", .better = Better::kHigher, .patience = 1};
  const std::vector<double> values = {6, 5, 5, 5};
  EXPECT_EQ(fit_scripted(values, options,
                         [](TrainerOptions& trainer, TinyWorld&) {
                           trainer.limit_val_batches = 0;
                           trainer.check_val_every_n_epoch = 10;
                         })
                .epochs,
            3U);
  EXPECT_EQ(fit_scripted(values, options,
                         [](TrainerOptions&, TinyWorld& world) {
                           world.data.validates = false;
                         })
                .epochs,
            3U);
}

TEST(EarlyStoppingTest, WaitsForAValidationThatIsNotDueEachEpoch) {
  const Stopped stopped =
      fit_scripted({9, 6, 9, 6, 9, 6}, {.monitor = "score", .patience = 1},
                   [](TrainerOptions& trainer, TinyWorld&) {
                     trainer.check_val_every_n_epoch = 2;
                     trainer.num_sanity_val_steps = 0;
                   });
  EXPECT_EQ(stopped.epochs, 4U);
}

TEST(EarlyStoppingTest, MissingMetricIsAnErrorThatNamesThoseThereAre) {
  EarlyStoppingOptions options{.monitor = "accuracy"};
  const auto error = caught([&] { fit_scripted({2, 1}, options); });
  ASSERT_NE(error, nullptr);
  EXPECT_THROW(std::rethrow_exception(error), InputError);
  EXPECT_THAT(message_of(error), testing::AllOf(testing::HasSubstr("accuracy"),
                                                testing::HasSubstr("score")));
  options.strict = false;
  EXPECT_EQ(fit_scripted({2, 1}, options).epochs, 2U);
}

TEST(EarlyStoppingTest, BadOptionsAreRefusedInSetupAndNotBefore) {
  const std::map<std::string, EarlyStoppingOptions> cases = {
      {"monitor", {}},
      {"patience", {.monitor = "score", .patience = 0}},
      {"min_delta", {.monitor = "score", .min_delta = -1}},
      {"stopping_threshold", {.monitor = "score", .stopping_threshold = kNan}},
      {"divergence_threshold",
       {.monitor = "score", .divergence_threshold = kNan}},
  };
  for (const auto& [name, bad] : cases) {
    TinyWorld world;
    TrainerOptions options = world.options();
    options.callbacks.push_back(std::make_shared<EarlyStopping>(bad));
    Engine engine(options);
    const auto error = caught([&] { engine.fit(world.module, world.data); });
    ASSERT_NE(error, nullptr) << name;
    EXPECT_THROW(std::rethrow_exception(error), InputError) << name;
    EXPECT_THAT(message_of(error), testing::HasSubstr(name));
    EXPECT_EQ(world.module.calls.place.hook, Hook::kSetup) << name;
  }
}

TEST(EarlyStoppingTest, ASecondFitStartsAnew) {
  TinyWorld world;
  ScriptedModule module({3, 3, 3});
  const auto stopping = std::make_shared<EarlyStopping>(
      EarlyStoppingOptions{.monitor = "score", .patience = 1});
  TrainerOptions options = world.options();
  options.max_epochs = 3;
  options.callbacks.push_back(stopping);
  Engine engine(options);
  engine.fit(module, world.data);
  engine.fit(module, world.data);
  EXPECT_EQ(world.first->losses.size(), 8U);
  EXPECT_EQ(stopping->stopped_epoch(), 1);
}

TEST(EarlyStoppingTest, AnEvaluationInsideTheFitDisturbsNothing) {
  TinyWorld world;
  ScriptedModule module({3, 2, 2});
  const auto stopping = std::make_shared<EarlyStopping>(
      EarlyStoppingOptions{.monitor = "score", .patience = 1});
  TrainerOptions options = world.options();
  options.max_epochs = 3;
  options.callbacks.push_back(stopping);
  Engine* inner = nullptr;
  options.callbacks.push_back(std::make_shared<LambdaCallback>(
      LambdaHooks{.on_train_epoch_start = [&](Session&) {
        TinyWorld other;
        inner->validate(other.module, other.data);
      }}));
  Engine engine(options);
  inner = &engine;
  engine.fit(module, world.data);
  EXPECT_EQ(stopping->best(), 2);
  EXPECT_EQ(stopping->wait(), 1);
  EXPECT_EQ(stopping->stopped_epoch(), 2);
}

TEST(EarlyStoppingTest, GoesOnFromItsState) {
  State state;
  EarlyStoppingOptions stopping{.monitor = "score", .patience = 2};
  const auto save = [&](TrainerOptions& trainer, TinyWorld&) {
    EarlyStopping* const saved =
        static_cast<EarlyStopping*>(trainer.callbacks.back().get());
    trainer.callbacks.push_back(std::make_shared<LambdaCallback>(
        LambdaHooks{.on_train_end = [&, saved](Session& session) {
          saved->on_save_checkpoint(session, state);
        }}));
  };
  const auto load = [&](TrainerOptions& trainer, TinyWorld&) {
    EarlyStopping* const loaded =
        static_cast<EarlyStopping*>(trainer.callbacks.back().get());
    trainer.callbacks.push_back(std::make_shared<LambdaCallback>(
        LambdaHooks{.on_train_start = [&, loaded](Session& session) {
          loaded->on_load_checkpoint(session,
                                     State::from_value(state.to_value()));
        }}));
  };
  EXPECT_EQ(fit_scripted({3, 4}, stopping, save).callback->wait(), 1);
  const Stopped resumed = fit_scripted({5, 5, 5}, stopping, load);
  EXPECT_EQ(resumed.epochs, 1U);
  EXPECT_EQ(resumed.callback->best(), 3);
  EXPECT_EQ(resumed.callback->wait(), 2);

  fit_scripted({3, 4, 4}, stopping, save);
  stopping.patience = 100;
  const Stopped kept = fit_scripted({1}, stopping, load);
  EXPECT_EQ(kept.callback->stopped_epoch(), 2);
  EXPECT_FALSE(kept.callback->reason().empty());
}

TEST(EarlyStoppingTest, StateOfOtherCodeIsRefusedAndChangesNothing) {
  State foreign;
  foreign.set("best", 1.0);
  const auto load = [&](TrainerOptions& trainer, TinyWorld&) {
    EarlyStopping* const loaded =
        static_cast<EarlyStopping*>(trainer.callbacks.back().get());
    trainer.callbacks.push_back(std::make_shared<LambdaCallback>(
        LambdaHooks{.on_train_start = [&, loaded](Session& session) {
          EXPECT_THROW(loaded->on_load_checkpoint(session, foreign),
                       InputError);
          EXPECT_EQ(loaded->best(), kInfinity);
        }}));
  };
  EXPECT_EQ(fit_scripted({3}, {.monitor = "score"}, load).callback->best(), 3);
}

}  // namespace
}  // namespace mishap::engine_test
