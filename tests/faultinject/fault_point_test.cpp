#include <gmock/gmock.h>
#include <mishap/fault_point.h>

#include <cmath>
#include <thread>

#include "support.h"

namespace mishap::faultinject {
namespace {

int steps_done = 0;

void two_steps() {
  ++steps_done;
  MISHAP_FAULT_POINT("fault_point/between");
  ++steps_done;
}

int read_header() {
  MISHAP_FAULT_POINT_RETURN("fault_point/header", int);
  return 512;
}

void flush() {
  MISHAP_FAULT_POINT_RETURN("fault_point/flush", void);
  ++steps_done;
}

std::string name() {
  MISHAP_FAULT_POINT_RETURN("fault_point/name", std::string);
  return "real";
}

bool is_ready() {
  MISHAP_FAULT_POINT_RETURN("fault_point/ready", bool);
  return true;
}

double loss() {
  MISHAP_FAULT_POINT_RETURN("fault_point/loss", double);
  return 0.5;
}

TEST(FaultPointTest, DoesNothingWhileNothingIsArmed) {
  steps_done = 0;
  two_steps();
  flush();
  EXPECT_EQ(steps_done, 3);
  EXPECT_EQ(read_header(), 512);
  EXPECT_EQ(name(), "real");
}

TEST(FaultPointTest, StrikesWhereItStands) {
  const auto scenario = arm_text("user/fault_point/between=throw(runtime)");
  steps_done = 0;
  EXPECT_EQ(message_of(two_steps),
            "injected runtime error at user/fault_point/between");
  EXPECT_EQ(steps_done, 1);
}

TEST(FaultPointTest, ReturnLeavesTheFunctionWithTheValue) {
  const auto scenario = arm_text(
      "user/fault_point/header=1*return(-1)->1*throw(int);"
      "user/fault_point/flush=1*return; user/fault_point/name=1*return(\"a "
      "b\");"
      "user/fault_point/ready=1*return(false);"
      "user/fault_point/loss=1*return(nan)");
  EXPECT_EQ(read_header(), -1);
  EXPECT_THROW(read_header(), int);
  EXPECT_EQ(read_header(), 512);
  steps_done = 0;
  flush();
  EXPECT_EQ(steps_done, 0);
  EXPECT_EQ(name(), "a b");
  EXPECT_FALSE(is_ready());
  EXPECT_TRUE(std::isnan(loss()));
  EXPECT_EQ(scenario.fired(), 6u);
}

TEST(FaultPointTest, AValueThatThePointCannotReturnIsRefused) {
  EXPECT_EQ(
      message_of(
          [] { arm_text("user/fault_point/header=return(many)").disarm(); }),
      "fault plan, item 1, column 25: 'return(many)' can't be done at "
      "'user/fault_point/header': 'many' is no number of the type it returns; "
      "choose another action or another point");
  EXPECT_EQ(
      message_of([] { arm_text("user/fault_point/between=return").disarm(); }),
      "fault plan, item 1, column 26: 'return' can't be done at "
      "'user/fault_point/between'; choose another action or another point");
  EXPECT_EQ(
      message_of([] { arm_text("user/fault_point/flush=return(1)").disarm(); }),
      "fault plan, item 1, column 24: 'return(1)' can't be done at "
      "'user/fault_point/flush': it returns nothing; choose another action or "
      "another point");
}

TEST(FaultPointTest, ADormantPointAsksNobody) {
  int asked = 0;
  const auto count = [](void* data) {
    ++*static_cast<int*>(data);
    return HitContext();
  };
  const ContextScope scope(count, &asked);
  two_steps();
  EXPECT_EQ(asked, 0);
  const auto scenario = arm_text("hook/other/module=off");
  two_steps();
  EXPECT_EQ(asked, 1);
}

HitContext context_of(void* data) { return *static_cast<HitContext*>(data); }

TEST(FaultPointTest, ItsContextComesFromTheRun) {
  const auto scenario =
      arm_text("user/fault_point/between=throw(int)[stage train]");
  two_steps();
  HitContext outer;
  outer.stage = "train";
  const ContextScope outer_scope(context_of, &outer);
  EXPECT_THROW(two_steps(), int);
  {
    HitContext inner;
    const ContextScope inner_scope(context_of, &inner);
    two_steps();
  }
  EXPECT_THROW(two_steps(), int);
  std::thread([] { EXPECT_NO_THROW(two_steps()); }).join();
}

}  // namespace
}  // namespace mishap::faultinject
