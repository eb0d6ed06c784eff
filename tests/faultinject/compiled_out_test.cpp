#include <gtest/gtest.h>
#include <mishap/fault_point.h>
#include <mishap/faultinject/active.h>
#include <mishap/faultinject/catalogue.h>
#include <mishap/faultinject/scenario.h>

#include <string_view>

#define MISHAP_TEXT_OF(expansion) #expansion
#define MISHAP_EXPANSION_OF(macro) MISHAP_TEXT_OF(macro)

namespace mishap::faultinject {
namespace {

void a_function_with_a_point() { MISHAP_FAULT_POINT("release/point"); }

TEST(FaultsInReleaseBuildsTest, APointIsNoCodeAtAll) {
  EXPECT_EQ(std::string_view(MISHAP_EXPANSION_OF(MISHAP_FAULT_POINT("x"))),
            "static_cast<void>(0)");
  EXPECT_EQ(std::string_view(
                MISHAP_EXPANSION_OF(MISHAP_FAULT_POINT_RETURN("x", int))),
            "static_cast<void>(0)");
  EXPECT_EQ(std::string_view(
                MISHAP_EXPANSION_OF(MISHAP_RECOVERABLE_FAULT_POINT("x"))),
            "static_cast<void>(0)");
  static_assert(!active());
  a_function_with_a_point();
  EXPECT_TRUE(catalogue().empty());
}

TEST(FaultsInReleaseBuildsTest, TheStatusSaysSo) {
  EXPECT_EQ(to_string(status()), "compiled_out");
}

TEST(FaultsInReleaseBuildsTest, ArmingIsAnErrorAndNotANoOp) {
  try {
    arm(Plan::parse("hook/a/b=throw(int)", "MISHAP_FAULTS")).disarm();
    FAIL();
  } catch (const PlanError& error) {
    EXPECT_STREQ(error.what(),
                 "fault plan MISHAP_FAULTS: this build has no fault points; "
                 "configure it without MISHAP_NO_FAULT_POINTS");
  }
  EXPECT_NO_THROW(arm(Plan()).disarm());
}

}  // namespace
}  // namespace mishap::faultinject
