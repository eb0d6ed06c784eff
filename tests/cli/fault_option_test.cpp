#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/fault_option.h>

#include <string>

namespace mishap::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::string& option) {
  try {
    check_fault_names(option, {"module"}, {"fit", "validate"});
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(FaultOption, TakesAPlanOfThisRunAndNone) {
  EXPECT_EQ(refusal(""), "taken");
  EXPECT_EQ(refusal("hook/training_step/module=throw(int) [entry fit]"),
            "taken");
}

TEST(FaultOption, RefusesAnEntryPointThatThereIsNot) {
  EXPECT_THAT(
      refusal("hook/training_step/module=1*off -> throw(int) [entry fti]"),
      AllOf(HasSubstr("--faults"), HasSubstr("no entry point 'fti'"),
            HasSubstr("did you mean 'fit'")));
  EXPECT_THAT(refusal("user/anything=throw(int) [entry everywhere]"),
              HasSubstr("the entry points are fit and validate"));
}

TEST(FaultOption, RefusesAPlanThatHoldsNoFault) {
  for (const char* empty : {" ", ";", "seed=7"}) {
    EXPECT_THAT(refusal(empty), HasSubstr("holds no fault")) << empty;
  }
}

TEST(FaultOption, RefusesAPointThatThereIsNot) {
  EXPECT_THAT(refusal("hook/training_stp/module=throw(int)"),
              HasSubstr("did you mean"));
}

}  // namespace
}  // namespace mishap::cli
