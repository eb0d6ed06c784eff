#include <mishap/trainer/engine/callbacks/lambda_callback.h>

#include <algorithm>
#include <set>

#include "engine_support.h"

namespace mishap::engine_test {
namespace {

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

}  // namespace
}  // namespace mishap::engine_test
