#include <gmock/gmock.h>
#include <mishap/faultinject/hit.h>

#include <array>

#include "support.h"

namespace mishap::faultinject {
namespace {

constexpr char kPoint[] = "hook/evaluation/module";

struct Course {
  const char* terms;
  const char* hits;
};

void PrintTo(const Course& course, std::ostream* out) { *out << course.terms; }

class EvaluationTest : public ::testing::TestWithParam<Course> {};

TEST_P(EvaluationTest, HitsTakeTheCourseThatTheTermsSay) {
  const std::string expected = GetParam().hits;
  const auto scenario = arm_text(std::string(kPoint) + "=" + GetParam().terms);
  EXPECT_EQ(hits(kPoint, static_cast<int>(expected.size())), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Terms, EvaluationTest,
    ::testing::Values(Course{"throw(runtime)", "XXXXX"},
                      Course{"1*throw(runtime)", "X...."},
                      Course{"2*off->1*throw(runtime)", "..X.."},
                      Course{"2*off->throw(runtime)", "..XXX"},
                      Course{"1*off->2*throw(int)->off", ".XX.."},
                      Course{"1*throw(int)->1*off->1*throw(int)", "X.X.."},
                      Course{"0*throw(runtime)", "....."},
                      Course{"0*off->throw(runtime)", "XXXXX"},
                      Course{"off->throw(runtime)", "....."},
                      Course{"0%throw(runtime)", "....."},
                      Course{"100%throw(runtime)", "XXXXX"},
                      Course{"100%2*throw(runtime)", "XX..."},
                      Course{"throw(runtime)[every 2]", ".X.X.X"},
                      Course{"2*throw(runtime)[every 2]", ".X.X...."},
                      Course{"1*off->throw(runtime)[every 2]", "..X.X."},
                      Course{"throw(int)[epoch 3]", "....."}));

TEST(RuleOrderTest, RulesAreTriedInTheOrderWritten) {
  const auto scenario = arm_text(
      "hook/order/a=throw(runtime,first); hook/order/a=throw(runtime,second)");
  EXPECT_EQ(message_of([] { hit(intern("hook/order/a")); }), "first");
  EXPECT_EQ(scenario.fired(0), 1u);
  EXPECT_EQ(scenario.fired(1), 0u);
}

TEST(RuleOrderTest, OffEndsItsRuleOnly) {
  const auto scenario =
      arm_text("hook/order/a=off->throw(int); hook/order/a=throw(int)");
  EXPECT_EQ(hits("hook/order/a", 1), "X");
  EXPECT_EQ(scenario.fired(0), 0u);
  EXPECT_EQ(scenario.fired(1), 1u);
}

TEST(RuleOrderTest, ActionsThatReturnLetTheNextRuleHaveItsTurn) {
  const auto scenario = arm_text(
      "hook/order/a=yield; hook/order/a=sleep(0); hook/order/a=delay(0);"
      "hook/order/a=throw(int); hook/order/a=yield");
  EXPECT_EQ(hits("hook/order/a", 2), "XX");
  EXPECT_EQ(scenario.fired(0), 2u);
  EXPECT_EQ(scenario.fired(1), 2u);
  EXPECT_EQ(scenario.fired(2), 2u);
  EXPECT_EQ(scenario.fired(3), 2u);
  EXPECT_EQ(scenario.fired(4), 0u);
}

TEST(RuleOrderTest, EarlierScenariosComeFirstAndLaterOnesStillCount) {
  const auto first = arm_text("hook/order/a=1*throw(int)");
  const auto second = arm_text("hook/order/a=throw(int)");
  EXPECT_EQ(hits("hook/order/a", 2), "XX");
  EXPECT_EQ(first.fired(), 1u);
  ASSERT_EQ(second.fired(), 1u);
  EXPECT_EQ(second.firings().front().hit, 2u);
}

TEST(GlobTest, OneCountGoesOverAllPointsOfARule) {
  const auto scenario = arm_text("hook/glob/*=2*off->1*throw(int)");
  EXPECT_EQ(hits("hook/glob/a", 1), ".");
  EXPECT_EQ(hits("hook/glob/b", 1), ".");
  EXPECT_EQ(hits("hook/other/c", 3), "...");
  EXPECT_EQ(hits("hook/glob/c", 2), "X.");
  ASSERT_THAT(scenario.firings(), ::testing::SizeIs(1));
  EXPECT_EQ(scenario.firings()[0].spec, "hook/glob/c=1*throw(int)");
}

TEST(GlobTest, MatchesPointsThatAreNamedAfterArming) {
  const auto scenario = arm_text("hook/late/**=throw(int)");
  EXPECT_EQ(hits("hook/late/born", 1), "X");
}

std::string course_of(const std::string& plan, int count) {
  const auto scenario = arm_text(plan);
  return hits("op/coin", count);
}

TEST(CoinTest, ASeedGivesOneCourseAlways) {
  const std::string course = course_of("seed=42;op/coin=25%throw(int)", 1000);
  EXPECT_EQ(course_of("seed=42;op/coin=25%throw(int)", 1000), course);
  EXPECT_NE(course_of("seed=43;op/coin=25%throw(int)", 1000), course);
  EXPECT_EQ(course.substr(0, 24), "...X.XX.X..XX......X...X");
  EXPECT_EQ(std::count(course.begin(), course.end(), 'X'), 256);
}

TEST(CoinTest, EachRuleHasItsOwn) {
  const auto scenario =
      arm_text("op/coin=50%yield; op/coin=50%yield; op/coin=50%yield");
  hits("op/coin", 1000);
  EXPECT_THAT(scenario.fired(0),
              ::testing::AllOf(::testing::Gt(430u), ::testing::Lt(570u)));
  std::array<std::vector<std::uint64_t>, 3> courses;
  for (const Firing& firing : scenario.firings()) {
    courses[firing.rule].push_back(firing.hit);
  }
  EXPECT_NE(courses[0], courses[1]);
  EXPECT_NE(courses[1], courses[2]);
}

TEST(CoinTest, ALostTossUsesUpNoCount) {
  const auto scenario = arm_text("op/coin=50%10*throw(int)");
  hits("op/coin", 200);
  EXPECT_EQ(scenario.fired(), 10u);
}

TEST(CoinTest, AFailedCoinGivesTheNextTermItsTurn) {
  const auto scenario = arm_text("op/coin=50%off->throw(int)");
  const std::string course = hits("op/coin", 1000);
  EXPECT_THAT(std::count(course.begin(), course.end(), 'X'),
              ::testing::AllOf(::testing::Gt(430), ::testing::Lt(570)));
}

}  // namespace
}  // namespace mishap::faultinject
