#include <fcntl.h>
#include <mishap/trainer/engine/callbacks/early_stopping.h>
#include <mishap/trainer/engine/callbacks/lambda_callback.h>
#include <mishap/trainer/engine/callbacks/progress_bar.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <limits>
#include <ostream>
#include <set>
#include <sstream>
#include <streambuf>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Its validation logs what the script says of each epoch, its training the
// negative of that.
class ScriptedModule : public TinyModule {
 public:
  explicit ScriptedModule(std::vector<double> values)
      : values_(std::move(values)) {}

  torch::Tensor training_step(const Batch& batch, std::int64_t) override {
    log("train_score", -value());
    log("shown", value(), {.progress_bar = true});
    return loss_of(batch);
  }
  void validation_step(const Batch&, std::int64_t) override {
    log("score",
        session().place().stage == Stage::kSanityCheck ? sanity : value());
  }

  double sanity = -1000;

 private:
  double value() {
    return values_.at(static_cast<std::size_t>(session().place().epoch));
  }

  std::vector<double> values_;
};

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

// Notes the name of every hook that is called.
LambdaHooks noting(std::set<std::string>& names) {
  LambdaHooks hooks;
  const auto note = [&names](const char* name) {
    return [&names, name](auto&&...) { names.insert(name); };
  };
  hooks.setup = note("setup");
  hooks.teardown = note("teardown");
  hooks.on_exception = note("on_exception");
  hooks.on_save_checkpoint = note("on_save_checkpoint");
  hooks.on_load_checkpoint = note("on_load_checkpoint");
  hooks.on_fit_start = note("on_fit_start");
  hooks.on_fit_end = note("on_fit_end");
  hooks.on_sanity_check_start = note("on_sanity_check_start");
  hooks.on_sanity_check_end = note("on_sanity_check_end");
  hooks.on_train_start = note("on_train_start");
  hooks.on_train_end = note("on_train_end");
  hooks.on_train_epoch_start = note("on_train_epoch_start");
  hooks.on_train_epoch_end = note("on_train_epoch_end");
  hooks.on_train_batch_start = note("on_train_batch_start");
  hooks.on_train_batch_end = note("on_train_batch_end");
  hooks.on_before_zero_grad = note("on_before_zero_grad");
  hooks.on_before_backward = note("on_before_backward");
  hooks.on_after_backward = note("on_after_backward");
  hooks.on_before_optimizer_step = note("on_before_optimizer_step");
  hooks.on_validation_start = note("on_validation_start");
  hooks.on_validation_end = note("on_validation_end");
  hooks.on_validation_epoch_start = note("on_validation_epoch_start");
  hooks.on_validation_epoch_end = note("on_validation_epoch_end");
  hooks.on_validation_batch_start = note("on_validation_batch_start");
  hooks.on_validation_batch_end = note("on_validation_batch_end");
  hooks.on_test_start = note("on_test_start");
  hooks.on_test_end = note("on_test_end");
  hooks.on_test_epoch_start = note("on_test_epoch_start");
  hooks.on_test_epoch_end = note("on_test_epoch_end");
  hooks.on_test_batch_start = note("on_test_batch_start");
  hooks.on_test_batch_end = note("on_test_batch_end");
  hooks.on_predict_start = note("on_predict_start");
  hooks.on_predict_end = note("on_predict_end");
  hooks.on_predict_epoch_start = note("on_predict_epoch_start");
  hooks.on_predict_epoch_end = note("on_predict_epoch_end");
  hooks.on_predict_batch_start = note("on_predict_batch_start");
  hooks.on_predict_batch_end = note("on_predict_batch_end");
  return hooks;
}

TEST(LambdaCallbackTest, T41EveryHookReachesItsFunction) {
  std::set<std::string> called;
  // What the guard saw each callback do, whichever functions it has.
  std::set<std::string> seen;
  HookTrace watch;
  TinyWorld world;
  TrainerOptions options = world.options();
  const auto lambda = std::make_shared<LambdaCallback>(noting(called));
  options.callbacks = {lambda};
  State state;
  options.callbacks.push_back(std::make_shared<LambdaCallback>(
      LambdaHooks{.name = "saver", .on_fit_end = [&](Session& session) {
                    lambda->on_save_checkpoint(session, state);
                    lambda->on_load_checkpoint(session, state);
                  }}));
  Engine engine(options);
  for (const auto& [name, call] : entry_points()) {
    call(engine, world, watched_by(watch));
  }
  EXPECT_FALSE(called.contains("on_exception"));
  world.module.in_training_step = [](std::int64_t) {
    throw std::runtime_error("fails");
  };
  EXPECT_THROW(engine.fit(world.module, world.data), std::runtime_error);
  constexpr std::string_view kOwn = "/callback.LambdaCallback";
  for (const std::string& point : watch.points) {
    if (point.ends_with(kOwn)) {
      seen.insert(point.substr(0, point.size() - kOwn.size()));
    }
  }
  EXPECT_EQ(called.size(), 37U);
  seen.insert({"on_exception", "on_save_checkpoint", "on_load_checkpoint"});
  EXPECT_EQ(called, seen);
}

TEST(LambdaCallbackTest, UnsetFunctionsDoNothingAndTheNameIsItsOwn) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.callbacks.push_back(std::make_shared<LambdaCallback>(
      LambdaHooks{.name = "mine", .monitors = true}));
  HookTrace trace;
  Engine(options).fit(world.module, world.data, watched_by(trace));
  EXPECT_THAT(trace.points, testing::Contains("on_fit_end/callback.mine"));
  const auto module_end = std::find(trace.points.begin(), trace.points.end(),
                                    "on_train_epoch_end/module");
  EXPECT_NE(std::find(module_end, trace.points.end(),
                      "on_train_epoch_end/callback.mine"),
            trace.points.end());
  EXPECT_EQ(std::find(trace.points.begin(), module_end,
                      "on_train_epoch_end/callback.mine"),
            module_end);
}

TEST(LambdaCallbackTest, AnErrorOfAFunctionFailsTheRun) {
  TinyWorld world;
  TrainerOptions options = world.options();
  options.callbacks.push_back(std::make_shared<LambdaCallback>(
      LambdaHooks{.on_after_backward = [](Session&) {
        throw std::domain_error("of the function");
      }}));
  EXPECT_THROW(Engine(options).fit(world.module, world.data),
               std::domain_error);
}

constexpr std::chrono::milliseconds kAlways{0};
constexpr std::chrono::hours kNever{1};

std::size_t count_of(const std::string& text, char c) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

// What is drawn over each other, without the spaces that blot out.
std::vector<std::string> drawn(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line, '\r');) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\n')) {
      line.pop_back();
    }
    if (!line.empty()) {
      lines.push_back(line);
    }
  }
  return lines;
}

struct ShowingWorld : TinyWorld {
  ScriptedModule scripted{{0.25, 0.5}};
  std::ostringstream stream;

  Engine engine(ProgressBarOptions bar) {
    if (bar.stream == nullptr) {
      bar.stream = &stream;
    }
    TrainerOptions trainer = options();
    trainer.callbacks.push_back(std::make_shared<ProgressBar>(bar));
    return Engine(trainer);
  }
};

TEST(ProgressBarTest, ShowsWhereTheRunIs) {
  ShowingWorld world;
  world.engine({.width = 200, .interval = kAlways})
      .fit(world.scripted, world.data);
  const std::vector<std::string> lines = drawn(world.stream.str());
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.front(), testing::StartsWith("fit sanity_check  1"));
  EXPECT_THAT(lines, testing::Contains(testing::AllOf(
                         testing::StartsWith("fit train  epoch 0  1/2  "),
                         testing::HasSubstr(" batches/s"),
                         testing::EndsWith("shown=0.25"))));
  EXPECT_THAT(lines, testing::Contains(
                         testing::StartsWith("fit validate  epoch 1  1")));
  EXPECT_THAT(lines.back(),
              testing::AllOf(testing::StartsWith("fit train  epoch 1  2/2"),
                             testing::EndsWith("shown=0.5")));
}

TEST(ProgressBarTest, EndsItsLineOnceOnSuccess) {
  for (const auto& [name, call] : entry_points()) {
    ShowingWorld world;
    Engine engine = world.engine({.interval = kAlways});
    call(engine, world, {});
    const std::string text = world.stream.str();
    EXPECT_EQ(count_of(text, '\n'), 1U) << name;
    EXPECT_EQ(text.back(), '\n') << name;
    EXPECT_THAT(text, testing::HasSubstr(name));
  }
}

TEST(ProgressBarTest, T40EndsItsLineOnceOnFailure) {
  ShowingWorld world;
  world.module.in_training_step = [](std::int64_t index) {
    if (index == 1) {
      throw std::runtime_error("fails");
    }
  };
  Engine engine = world.engine({.interval = kAlways});
  EXPECT_THROW(engine.fit(world.module, world.data), std::runtime_error);
  EXPECT_EQ(count_of(world.stream.str(), '\n'), 1U);
  EXPECT_EQ(world.stream.str().back(), '\n');
}

TEST(ProgressBarTest, ARunThatDrewNothingHasNoLineToEnd) {
  ShowingWorld world;
  TrainerOptions bad = world.engine({}).options();
  bad.limit_val_batches = 0;
  bad.max_epochs = 0;
  Engine(bad).fit(world.module, world.data);
  EXPECT_EQ(world.stream.str(), "");
}

TEST(ProgressBarTest, BetweenTwoRefreshesNothingIsDrawnButTheEnd) {
  ShowingWorld world;
  world.engine({.width = 200, .interval = kNever})
      .fit(world.scripted, world.data);
  const std::vector<std::string> lines = drawn(world.stream.str());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], testing::StartsWith("fit sanity_check"));
  EXPECT_THAT(lines[1], testing::StartsWith("fit train  epoch 1  2/2"));
}

TEST(ProgressBarTest, IsCutToTheWidthWithoutSplittingACharacter) {
  struct Named : TinyModule {
    torch::Tensor training_step(const Batch& batch, std::int64_t) override {
      log("ä\nö", 1.0, {.progress_bar = true});
      return loss_of(batch);
    }
  };
  for (std::size_t width = 0; width < 80; ++width) {
    ShowingWorld world;
    Named module;
    TrainerOptions options =
        world.engine({.width = width, .interval = kAlways}).options();
    options.limit_val_batches = 0;
    options.max_epochs = 1;
    Engine(options).fit(module, world.data);
    const std::string text = world.stream.str();
    EXPECT_EQ(count_of(text, '\n'), 1U) << width;
    for (const std::string& line : drawn(text)) {
      const auto characters = std::count_if(
          line.begin(), line.end(),
          [](char c) { return (static_cast<unsigned char>(c) >> 6U) != 2; });
      EXPECT_LT(characters, static_cast<std::ptrdiff_t>(width));
      EXPECT_NE(static_cast<unsigned char>(line.back()), 0xC3) << width;
    }
  }
}

TEST(ProgressBarTest, AShorterLineBlotsOutTheLongerOne) {
  ShowingWorld world;
  world.engine({.width = 200, .interval = kAlways})
      .fit(world.scripted, world.data);
  std::istringstream stream(world.stream.str());
  std::size_t visible = 0;
  for (std::string line; std::getline(stream, line, '\r');) {
    EXPECT_GE(line.size(), visible);
    visible = line.find_last_not_of(" \n") + 1;
  }
  EXPECT_GT(visible, 0U);
}

TEST(ProgressBarTest, OutputThatFailsDoesNotFailTheRun) {
  struct Broken : std::streambuf {
    int_type overflow(int_type) override { throw std::runtime_error("gone"); }
  } buffer;
  std::ostream broken(&buffer);
  broken.exceptions(std::ios::badbit | std::ios::failbit);
  ShowingWorld world;
  EXPECT_NO_THROW(world.engine({.stream = &broken, .interval = kAlways})
                      .fit(world.scripted, world.data));
  EXPECT_TRUE(broken.bad());
  EXPECT_EQ(world.first->losses.size(), 4U);
}

// stderr is another file while it lives.
class StderrIs {
 public:
  explicit StderrIs(int file) : before_(::dup(STDERR_FILENO)) {
    ::dup2(file, STDERR_FILENO);
  }
  ~StderrIs() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  StderrIs(const StderrIs&) = delete;
  StderrIs& operator=(const StderrIs&) = delete;

 private:
  int before_;
};

void fit_with_plain_bar(TinyWorld& world) {
  TrainerOptions options = world.options();
  options.callbacks.push_back(std::make_shared<ProgressBar>());
  Engine(options).fit(world.module, world.data);
}

TEST(ProgressBarTest, WritesNothingToWhatIsNoTerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  TinyWorld world;
  {
    const StderrIs redirected(ends[1]);
    fit_with_plain_bar(world);
  }
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), -1);
  EXPECT_EQ(errno, EAGAIN);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ProgressBarTest, WritesToATerminalInItsWidth) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) {
    GTEST_SKIP() << "there are no terminals here";
  }
  const int inside = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(inside, 0);
  const winsize size{.ws_row = 5, .ws_col = 20, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(inside, TIOCSWINSZ, &size), 0);
  TinyWorld world;
  {
    const StderrIs redirected(inside);
    fit_with_plain_bar(world);
  }
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(terminal, buffer.data(), buffer.size());
  ASSERT_GT(count, 0);
  const std::string text(buffer.data(), static_cast<std::size_t>(count));
  EXPECT_THAT(text, testing::StartsWith("\rfit sanity_check"));
  for (const std::string& line : drawn(text)) {
    EXPECT_LT(line.size(), 20U);
  }
  ::close(inside);
  ::close(terminal);
}

}  // namespace
}  // namespace mishap::engine_test
