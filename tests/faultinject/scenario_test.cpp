#include <gmock/gmock.h>
#include <mishap/faultinject/active.h>
#include <mishap/faultinject/scenario.h>

#include <stdexcept>

#include "support.h"

namespace mishap::faultinject {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kScenarioPoint[] = "hook/scenario/module";

TEST(ScenarioTest, NothingIsActiveUntilSomethingIsArmed) {
  EXPECT_FALSE(active());
  EXPECT_EQ(to_string(status()), "dormant");
  {
    const auto scenario = arm_text("hook/scenario/module=throw(int)");
    EXPECT_TRUE(active());
    EXPECT_TRUE(scenario.is_armed());
    EXPECT_EQ(to_string(status()), "armed");
    EXPECT_EQ(armed_count(), 1u);
  }
  EXPECT_FALSE(active());
  EXPECT_EQ(to_string(status()), "dormant");
  EXPECT_EQ(hits(kScenarioPoint, 3), "...");
}

TEST(ScenarioTest, AMovedScenarioStaysArmedOnce) {
  auto first = arm_text("hook/scenario/module=throw(int)");
  Scenario second = std::move(first);
  EXPECT_FALSE(first.is_armed());
  EXPECT_EQ(armed_count(), 1u);
  second = arm_text("hook/scenario/module=throw(int)");
  EXPECT_EQ(armed_count(), 1u);
  second = Scenario();
  EXPECT_EQ(armed_count(), 0u);
}

TEST(ScenarioTest, TellsWhatFired) {
  auto scenario = arm_text(
      "seed=9;hook/scenario/module=2*off->1*throw(runtime,\"boom!\");"
      "hook/scenario/data=throw(int)");
  EXPECT_EQ(hits(kScenarioPoint, 4), "..X.");
  scenario.disarm();
  EXPECT_EQ(scenario.fired(), 1u);
  ASSERT_THAT(scenario.firings(), SizeIs(1));
  const Firing firing = scenario.firings().front();
  EXPECT_EQ(name_of(firing.point), kScenarioPoint);
  EXPECT_EQ(firing.hit, 3u);
  EXPECT_EQ(firing.rule, 0u);
  EXPECT_EQ(firing.kind, ActionKind::kThrow);
  EXPECT_EQ(firing.action, "throw(runtime,\"boom!\")");
  EXPECT_EQ(firing.spec,
            "hook/scenario/module=2*off->1*throw(runtime,\"boom!\")");
  EXPECT_EQ(firing.seed, 9u);
  EXPECT_THAT(scenario.never_fired(), ElementsAre(1u));
}

TEST(ScenarioTest, ASpecRepeatsItsFiringAndNoOther) {
  std::vector<Firing> firings;
  {
    const auto scenario =
        arm_text("seed=3;hook/scenario/module=20%throw(runtime)");
    hits(kScenarioPoint, 50);
    firings = scenario.firings();
  }
  ASSERT_GT(firings.size(), 3u);
  for (const Firing& firing : firings) {
    const auto again = arm_text(firing.spec);
    std::string expected(50, '.');
    expected[firing.hit - 1] = 'X';
    EXPECT_EQ(hits(kScenarioPoint, 50), expected) << firing.spec;
  }
}

TEST(ScenarioTest, KeepsCountingWhenItsListIsFull) {
  const auto scenario = arm_text("hook/scenario/module=yield");
  hits(kScenarioPoint, 5000);
  EXPECT_EQ(scenario.fired(), 5000u);
  EXPECT_THAT(scenario.firings(), SizeIs(Scenario::kMaxFirings));
}

TEST(ScenarioTest, ARuleThatCanOnlyStandAsideIsNotMissed) {
  const auto scenario = arm_text(
      "hook/scenario/module=off; hook/scenario/data=0*throw(int);"
      "hook/scenario/loop=throw(int)");
  EXPECT_THAT(scenario.never_fired(), ElementsAre(2u));
}

TEST(ScenarioTest, AnEmptyOneAnswersEverything) {
  Scenario scenario;
  scenario.disarm();
  EXPECT_FALSE(scenario.is_armed());
  EXPECT_EQ(scenario.fired(), 0u);
  EXPECT_THAT(scenario.firings(), IsEmpty());
  EXPECT_THAT(scenario.never_fired(), IsEmpty());
  EXPECT_EQ(message_of([&] { scenario.fired(0); }),
            "the plan has 0 rules, there is no rule 0");
}

TEST(ScenarioTest, ArmingCanBeAnnounced) {
  ::testing::internal::CaptureStderr();
  const auto quiet = arm(Plan::parse("hook/a/b=off"));
  const auto loud = arm(Plan::parse("seed=4;hook/a/b=off", "the command line"),
                        Scope::process(), Announce::kStderr);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "mishap: faults armed from the command line (seed 4): "
            "seed=4;hook/a/b=off\n");
}

}  // namespace
}  // namespace mishap::faultinject
