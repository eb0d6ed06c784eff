#include "engine_support.h"

namespace mishap::engine_test {
namespace {

using Points = std::vector<std::string>;

Points operator+(Points left, const Points& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// A hook of both callbacks and the module.
Points all(const std::string& hook) {
  return {hook + "/callback.SpyCallback", hook + "/callback.SpyCallback#2",
          hook + "/module"};
}

Points all_and_strategy(const std::string& hook) {
  return all(hook) + Points{hook + "/strategy"};
}

Points opening() {
  return Points{"configure_callbacks/module",
                "prepare_data/data",
                "prepare_data/module",
                "experiment/logger.SpyLogger",
                "setup/data",
                "setup/callback.SpyCallback",
                "setup/callback.SpyCallback#2",
                "setup/module",
                "configure_model/module",
                "setup/strategy"};
}

Points closing() {
  return Points{"teardown/strategy",
                "teardown/module",
                "teardown/callback.SpyCallback#2",
                "teardown/callback.SpyCallback",
                "teardown/data",
                "finalize/logger.SpyLogger"};
}

Points fetch() {
  return {"load_batch/loader", "on_before_batch_transfer/module",
          "transfer_batch_to_device/module", "on_after_batch_transfer/module"};
}

Points evaluation(const std::string& kind, const std::string& step, bool logs) {
  Points points = Points{"on_" + kind + "_model_eval/module"} +
                  all_and_strategy("on_" + kind + "_start") +
                  all("on_" + kind + "_epoch_start") + fetch() +
                  all("on_" + kind + "_batch_start") +
                  Points{step + "/module"} + all("on_" + kind + "_batch_end") +
                  all("on_" + kind + "_epoch_end");
  if (logs) {
    points = points +
             Points{"log_metrics/logger.SpyLogger", "save/logger.SpyLogger"};
  }
  return points + all_and_strategy("on_" + kind + "_end") +
         Points{"on_" + kind + "_model_train/module"};
}

Points training_batch() {
  return fetch() + all_and_strategy("on_train_batch_start") +
         Points{"optimizer_step/module", "training_step/module"} +
         all("on_before_zero_grad") + Points{"optimizer_zero_grad/module"} +
         all("on_before_backward") + Points{"backward/module"} +
         all("on_after_backward") + all("on_before_optimizer_step") +
         Points{"configure_gradient_clipping/module"} +
         all("on_train_batch_end");
}

Points epoch() {
  return all("on_train_epoch_start") + training_batch() + training_batch() +
         Points{"load_batch/loader", "on_validation_model_zero_grad/module"} +
         evaluation("validation", "validation_step", true) +
         all("on_train_epoch_end") +
         Points{"log_metrics/logger.SpyLogger", "save/logger.SpyLogger"};
}

Points hooks_of(const std::string& entry_point) {
  TinyWorld world;
  HookTrace trace;
  Engine engine(world.options());
  entry_points().at(entry_point)(engine, world, watched_by(trace));
  return trace.points;
}

TEST(EngineHookOrderTest, FitFollowsTheLifecycle) {
  const Points expected =
      opening() + Points{"configure_optimizers/module"} + all("on_fit_start") +
      Points{"log_hyperparams/logger.SpyLogger",
             "save/logger.SpyLogger",
             "val_dataloader/data",
             "on_sanity_check_start/callback.SpyCallback",
             "on_sanity_check_start/callback.SpyCallback#2",
             "on_validation_model_zero_grad/module"} +
      evaluation("validation", "validation_step", false) +
      Points{"on_sanity_check_end/callback.SpyCallback",
             "on_sanity_check_end/callback.SpyCallback#2",
             "train_dataloader/data"} +
      all_and_strategy("on_train_start") + epoch() + epoch() +
      all_and_strategy("on_train_end") + all("on_fit_end") + closing();
  EXPECT_THAT(hooks_of("fit"), testing::ElementsAreArray(expected));
}

TEST(EngineHookOrderTest, ValidateFollowsTheLifecycle) {
  EXPECT_THAT(
      hooks_of("validate"),
      testing::ElementsAreArray(
          opening() + Points{"val_dataloader/data"} +
          evaluation("validation", "validation_step", true) + closing()));
}

TEST(EngineHookOrderTest, TestFollowsTheLifecycle) {
  EXPECT_THAT(hooks_of("test"),
              testing::ElementsAreArray(
                  opening() + Points{"test_dataloader/data"} +
                  evaluation("test", "test_step", true) + closing()));
}

TEST(EngineHookOrderTest, PredictFollowsTheLifecycle) {
  EXPECT_THAT(hooks_of("predict"),
              testing::ElementsAreArray(
                  opening() + Points{"predict_dataloader/data"} +
                  evaluation("predict", "predict_step", false) + closing()));
}

TEST(EngineHookOrderTest, MonitoringCallbackEndsTheEpochAfterTheModule) {
  struct Monitor : Callback {
    bool monitors() const override { return true; }
    void on_train_epoch_end(Session& session) override {
      seen = session.metrics().at("epoch_end");
    }
    double seen = 0;
  };
  struct LogsAtTheEnd : TinyModule {
    void on_train_epoch_end() override { log("epoch_end", 3.5); }
  };
  TinyWorld world;
  LogsAtTheEnd module;
  const auto monitor = std::make_shared<Monitor>();
  TrainerOptions options = world.options();
  options.callbacks = {monitor, world.first};
  HookTrace trace;
  Engine(options).fit(module, world.data, watched_by(trace));
  EXPECT_EQ(monitor->seen, 3.5);
  const auto at = [&](const std::string& point) {
    return std::find(trace.points.begin(), trace.points.end(), point);
  };
  EXPECT_LT(at("on_train_epoch_end/callback.SpyCallback"),
            at("on_train_epoch_end/module"));
  EXPECT_LT(at("on_train_epoch_end/module"),
            at("on_train_epoch_end/callback.Monitor"));
}

TEST(EngineHookOrderTest, DataModuleTransfersTheBatchesIfItHasItsOwnWay) {
  struct Transfers : TinyData {
    bool overrides_transfer() const override { return true; }
  };
  TinyWorld world;
  Transfers data;
  HookTrace trace;
  Engine(world.options()).test(world.module, data, watched_by(trace));
  EXPECT_THAT(trace.points,
              testing::IsSupersetOf({"on_before_batch_transfer/data",
                                     "transfer_batch_to_device/data",
                                     "on_after_batch_transfer/data"}));
}

TEST(EngineHookOrderTest, CallbacksOfTheModuleTakePartInTheCallOnly) {
  struct BringsCallback : TinyModule {
    std::vector<std::shared_ptr<Callback>> configure_callbacks() override {
      return {callback};
    }
    std::shared_ptr<SpyCallback> callback = std::make_shared<SpyCallback>();
  };
  TinyWorld world;
  BringsCallback module;
  Engine engine(world.options());
  engine.test(module, world.data);
  engine.test(world.module, world.data);
  EXPECT_EQ(module.callback->calls.setup, 1);
  EXPECT_EQ(module.callback->calls.teardown, 1);
}

TEST(EngineHookOrderTest, NameOfACallbackReplacesItsClass) {
  struct Named : Callback {
    std::string name() const override { return "early"; }
  };
  TinyWorld world;
  TrainerOptions options = world.options();
  options.callbacks = {std::make_shared<Named>()};
  HookTrace trace;
  Engine(options).test(world.module, world.data, watched_by(trace));
  EXPECT_THAT(trace.points, testing::Contains("setup/callback.early"));
}

TEST(EngineHookOrderTest, SchedulerStepsEveryEpochOrEveryStep) {
  struct Scheduled : TinyModule {
    explicit Scheduled(Optimizers::Every every_) : every(every_) {}
    Optimizers configure_optimizers() override {
      return Optimizers(torch::optim::SGD(parameters(), 0.1))
          .schedule<torch::optim::StepLR>(every, /*step_size=*/1,
                                          /*gamma=*/0.5);
    }
    void on_fit_end() override { steps = scheduler_steps; }
    void lr_scheduler_step(torch::optim::LRScheduler& scheduler) override {
      ++scheduler_steps;
      TinyModule::lr_scheduler_step(scheduler);
    }
    Optimizers::Every every;
    int scheduler_steps = 0;
    int steps = 0;
  };
  TinyWorld world;
  Scheduled by_epoch(Optimizers::Every::kEpoch);
  Engine(world.options()).fit(by_epoch, world.data);
  EXPECT_EQ(by_epoch.steps, 2);
  Scheduled by_step(Optimizers::Every::kStep);
  Engine(world.options()).fit(by_step, world.data);
  EXPECT_EQ(by_step.steps, 4);
}

}  // namespace
}  // namespace mishap::engine_test
