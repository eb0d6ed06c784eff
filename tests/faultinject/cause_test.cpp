#include <gmock/gmock.h>
#include <mishap/fault_point.h>

#include <stdexcept>
#include <thread>

#include "support.h"

namespace mishap::faultinject {
namespace {

void known_point() { MISHAP_FAULT_POINT("cause/known"); }

TEST(FaultStaysArmedTest, LeavingTheBlockByAnExceptionDisarms) {
  EXPECT_THROW(
      {
        const auto scenario = arm_text("user/cause/known=throw(runtime)");
        known_point();
      },
      std::runtime_error);
  EXPECT_EQ(armed_count(), 0u);
  EXPECT_NO_THROW(known_point());
}

TEST(FaultStaysArmedTest, EverythingCanBeDisarmedAtOnce) {
  const auto first = arm_text("user/cause/known=throw(runtime)");
  const auto second = arm_text("user/cause/known=throw(runtime)");
  EXPECT_EQ(armed_count(), 2u);
  disarm_all();
  EXPECT_EQ(armed_count(), 0u);
  EXPECT_FALSE(first.is_armed());
  EXPECT_NO_THROW(known_point());
}

TEST(ParallelTestsTest, ThreadsDoNotTakeEachOthersFault) {
  std::string here;
  std::string there;
  std::thread other([&] {
    const auto scenario =
        arm_text("hook/cause/module=1*off->1*throw(int)", Scope::thread());
    there = hits("hook/cause/module", 4);
  });
  {
    const auto scenario =
        arm_text("hook/cause/module=2*off->1*throw(int)", Scope::thread());
    here = hits("hook/cause/module", 4);
    other.join();
    EXPECT_EQ(scenario.fired(), 1u);
  }
  EXPECT_EQ(here, "..X.");
  EXPECT_EQ(there, ".X..");
}

TEST(ParallelTestsTest, TrainersInTwoThreadsDoNotTakeEachOthersFault) {
  const int first = 0;
  const int second = 0;
  const auto scenario =
      arm_text("hook/cause/module=1*throw(int)", Scope::owner(&first));
  HitContext context;
  context.owner = &second;
  std::string of_second;
  std::thread([&] {
    of_second = hits("hook/cause/module", 3, context);
  }).join();
  EXPECT_EQ(of_second, "...");
  EXPECT_EQ(hits("hook/cause/module", 1), ".");
  context.owner = &first;
  EXPECT_EQ(hits("hook/cause/module", 2, context), "X.");
}

TEST(TypoTest, AnUnknownPointInUserCodeIsAnErrorWhenArming) {
  EXPECT_EQ(
      message_of([] { arm_text("user/cause/knwon=throw(int)").disarm(); }),
      "fault plan, item 1, column 1: this program has no point "
      "'user/cause/knwon'; did you mean 'user/cause/known'?");
  EXPECT_THAT(
      message_of([] { arm_text("user/zzzzzzzzzzz/**=throw(int)").disarm(); }),
      ::testing::HasSubstr("its points are "));
  EXPECT_THAT(
      message_of([] { arm_text("user/cause/known:after=off").disarm(); }),
      ::testing::HasSubstr("leave ':after' out"));
  EXPECT_EQ(armed_count(), 0u);
}

TEST(TypoTest, AnUnknownHookIsFoundWhenTheRunKnowsItsPoints) {
  const std::vector<std::string> known = {"hook/training_step/module"};
  const auto scenario = arm_text("hook/trainig_step/module=throw(int)");
  const auto problems = scenario.unmatched(known);
  ASSERT_THAT(problems, ::testing::SizeIs(1));
  EXPECT_EQ(problems[0].message,
            "fault plan, item 1, column 1: no point of this run is called "
            "'hook/trainig_step/module'; did you mean "
            "'hook/training_step/module'?");
}

TEST(TypoTest, ArmedButNeverFiredIsReported) {
  const auto scenario = arm_text(
      "hook/cause/module=5*off->1*throw(int); hook/cause/data=throw(int)");
  hits("hook/cause/module", 5);
  hits("hook/cause/data", 1);
  EXPECT_THAT(scenario.never_fired(), ::testing::ElementsAre(0u));
}

}  // namespace
}  // namespace mishap::faultinject
