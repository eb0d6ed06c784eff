#include <gmock/gmock.h>
#include <mishap/faultinject/environment.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support.h"

namespace mishap::faultinject {
namespace {

using ::testing::SizeIs;

class EnvironmentTest : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void set(const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);
  }

  static std::string file_with(const std::string& text) {
    const auto path = std::filesystem::path(::testing::TempDir()) / "plan.txt";
    std::ofstream(path) << text;
    return path.string();
  }

 private:
  static void clear() {
    for (const char* name :
         {"MISHAP_FAULTS", "MISHAP_FAULTS_FILE", "MISHAP_SEED"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(EnvironmentTest, ArmsNothingWithoutAVariable) {
  EXPECT_EQ(plan_from_environment(), std::nullopt);
  EXPECT_FALSE(arm_from_environment().is_armed());
  set("MISHAP_FAULTS", "");
  EXPECT_EQ(plan_from_environment(), std::nullopt);
  set("MISHAP_FAULTS", "# nothing");
  EXPECT_FALSE(arm_from_environment().is_armed());
}

TEST_F(EnvironmentTest, ArmsThePlanAndSaysSo) {
  set("MISHAP_FAULTS", "hook/env/a=1*throw(int)");
  ::testing::internal::CaptureStderr();
  const auto scenario = arm_from_environment();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "mishap: faults armed from MISHAP_FAULTS (seed 0): "
            "hook/env/a=1*throw(int)\n");
  EXPECT_EQ(hits("hook/env/a", 2), "X.");
}

TEST_F(EnvironmentTest, ReadsTheFileBehindTheVariable) {
  set("MISHAP_FAULTS", "hook/env/a=off");
  set("MISHAP_FAULTS_FILE", file_with("seed=5\nhook/env/b=off # why\n"));
  const auto plan = plan_from_environment();
  ASSERT_THAT(plan->rules, SizeIs(2));
  EXPECT_EQ(plan->rules[1].name.text(), "hook/env/b");
  EXPECT_EQ(plan->seed, 5u);
}

TEST_F(EnvironmentTest, ThePlansOwnSeedComesFirst) {
  set("MISHAP_FAULTS", "hook/env/a=off");
  set("MISHAP_SEED", "77");
  EXPECT_EQ(plan_from_environment()->seed, 77u);
  set("MISHAP_FAULTS", "seed=3;hook/env/a=off");
  EXPECT_EQ(plan_from_environment()->seed, 3u);
}

TEST_F(EnvironmentTest, BadInputNamesTheVariableOrTheFile) {
  set("MISHAP_FAULTS", "hook/env/a=of");
  EXPECT_EQ(message_of([] { plan_from_environment(); }),
            "fault plan MISHAP_FAULTS, item 1, column 12: unknown action 'of'; "
            "did you mean 'off'?");
  set("MISHAP_FAULTS", "hook/env/a=off");
  set("MISHAP_SEED", "many");
  EXPECT_EQ(message_of([] { plan_from_environment(); }),
            "fault plan MISHAP_SEED: 'many' is no whole number of 64 bits; "
            "write such as MISHAP_SEED=42");
  set("MISHAP_FAULTS", "seed=1;hook/env/a=off");
  const std::string path = file_with("seed=2");
  set("MISHAP_FAULTS_FILE", path);
  EXPECT_EQ(message_of([] { plan_from_environment(); }),
            "fault plan " + path +
                ": its seed is another one than that in MISHAP_FAULTS; keep "
                "one of them");
  set("MISHAP_FAULTS_FILE", "/nowhere/plan.txt");
  EXPECT_EQ(message_of([] { plan_from_environment(); }),
            "fault plan MISHAP_FAULTS_FILE: the file /nowhere/plan.txt can't "
            "be read: No such file or directory; name a file that holds a "
            "fault plan");
  set("MISHAP_FAULTS_FILE", ::testing::TempDir());
  EXPECT_THAT(message_of([] { plan_from_environment(); }),
              ::testing::HasSubstr("can't be read"));
}

}  // namespace
}  // namespace mishap::faultinject
