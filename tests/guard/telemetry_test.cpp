#include <gtest/gtest.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <mishap/trainer/guard/telemetry.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace mishap {
namespace {

using std::chrono::milliseconds;

TEST(TelemetryRing, KeepsLossAndTimeOfTheLastSteps) {
  Telemetry telemetry;
  telemetry.begin(0);
  telemetry.set_loss(0.5);
  std::this_thread::sleep_for(milliseconds(20));
  telemetry.begin(1);
  ASSERT_EQ(telemetry.size(), 2U);
  EXPECT_EQ(telemetry[0].step, 0);
  EXPECT_EQ(telemetry[0].loss, 0.5);
  ASSERT_TRUE(telemetry[0].micros);
  EXPECT_GE(*telemetry[0].micros, 19'000);
  EXPECT_LT(*telemetry[0].micros, 2'000'000);
  EXPECT_EQ(telemetry[1].step, 1);
  EXPECT_FALSE(telemetry[1].loss);
  EXPECT_FALSE(telemetry[1].micros);
}

TEST(TelemetryRing, OverwritesTheOldest) {
  Telemetry telemetry;
  constexpr auto kMore = static_cast<std::int64_t>(Telemetry::kCapacity) + 5;
  for (std::int64_t step = 0; step < kMore; ++step) {
    telemetry.begin(step);
    telemetry.set_loss(static_cast<double>(step));
  }
  ASSERT_EQ(telemetry.size(), Telemetry::kCapacity);
  EXPECT_EQ(telemetry[0].step, 5);
  EXPECT_EQ(telemetry[telemetry.size() - 1].loss,
            static_cast<double>(kMore - 1));
}

TEST(TelemetryRing, TakesNoLossBeforeTheFirstStep) {
  Telemetry telemetry;
  telemetry.set_loss(1);
  EXPECT_EQ(telemetry.size(), 0U);
}

class Checkpoints final : public Observer {
 public:
  void on_checkpoint(mishap::Run&,
                     const CheckpointNote& note) noexcept override {
    seen.push_back(std::string(note.path) + "@" + std::to_string(note.step));
  }
  std::vector<std::string> seen;
};

TEST(NotedCheckpoints, AreToldToObservers) {
  Checkpoints observer;
  GuardOptions options;
  options.observers = {&observer};
  guarded_call("fit", options, [](mishap::Run& run) {
    run.note_checkpoint({"a.ckpt", 3, "xxh3-128:00"});
    run.note_checkpoint({"b.ckpt", 5, {}});
  });
  EXPECT_EQ(observer.seen, (std::vector<std::string>{"a.ckpt@3", "b.ckpt@5"}));
}

}  // namespace
}  // namespace mishap
