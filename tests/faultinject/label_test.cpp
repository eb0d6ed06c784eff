#include <gmock/gmock.h>
#include <mishap/faultinject/firing.h>

#include <cstring>
#include <thread>

#include "support.h"

namespace mishap::faultinject {
namespace {

TEST(LabelTest, IsThereWhenTheFaultIsCaught) {
  const auto scenario =
      arm_text("seed=6;hook/label/module=1*off->throw(runtime,\"a b\")");
  const std::uint64_t before = firing_sequence();
  const int owner = 0;
  HitContext context;
  context.owner = &owner;
  EXPECT_EQ(hits("hook/label/module", 2, context), ".X");
  const FiringLabel* label = last_fired_on_this_thread();
  ASSERT_NE(label, nullptr);
  EXPECT_STREQ(label->point, "hook/label/module");
  EXPECT_STREQ(label->action, "throw(runtime,\"a b\")");
  EXPECT_STREQ(label->spec,
               "hook/label/module=1*off->1*throw(runtime,\"a b\")");
  EXPECT_EQ(label->hit, 2u);
  EXPECT_EQ(label->seed, 6u);
  EXPECT_EQ(label->sequence, before + 1);
  EXPECT_EQ(label->owner, &owner);
  EXPECT_FALSE(label->truncated);
}

TEST(LabelTest, ThreadsHaveTheirOwnAndTheProcessHasTheLast) {
  const auto scenario = arm_text("hook/label/*=throw(int)");
  hits("hook/label/here", 1);
  std::thread([] {
    EXPECT_EQ(last_fired_on_this_thread(), nullptr);
    hits("hook/label/there", 1);
  }).join();
  EXPECT_STREQ(last_fired_on_this_thread()->point, "hook/label/here");
  FiringLabel label;
  ASSERT_TRUE(last_fired(label));
  EXPECT_STREQ(label.point, "hook/label/there");
}

TEST(LabelTest, NotesAreNoFaults) {
  const auto scenario = arm_text("hook/label/module=1*throw(int)->yield");
  hits("hook/label/module", 3);
  EXPECT_STREQ(last_fired_on_this_thread()->action, "throw(int)");
  EXPECT_EQ(scenario.fired(), 3u);
}

TEST(LabelTest, TheLongestTextFitsAndALongerNameIsMarked) {
  const std::string text(240, '\x01');
  Plan plan = Plan::parse("hook/label/**=throw(runtime)");
  plan.rules[0].terms[0].arguments.push_back(text);
  const auto scenario = arm(plan);
  hits("hook/label/" + std::string(170, 'n'), 1);
  EXPECT_FALSE(last_fired_on_this_thread()->truncated);
  EXPECT_EQ(Plan::parse(last_fired_on_this_thread()->spec)
                .rules[0]
                .terms[0]
                .arguments[1],
            text);
  hits("hook/label/" + std::string(300, 'n'), 1);
  EXPECT_TRUE(last_fired_on_this_thread()->truncated);
  EXPECT_EQ(std::strlen(last_fired_on_this_thread()->point), 191u);
}

}  // namespace
}  // namespace mishap::faultinject
