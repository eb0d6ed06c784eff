#include <gmock/gmock.h>
#include <mishap/faultinject/pattern.h>
#include <mishap/faultinject/point.h>

#include "support.h"

namespace mishap::faultinject {
namespace {

bool matches(const char* pattern, const char* name) {
  return NamePattern(pattern).matches(name);
}

TEST(PatternTest, AStarStaysWithinItsLevel) {
  EXPECT_TRUE(matches("hook/*/module", "hook/setup/module"));
  EXPECT_TRUE(matches("hook/on_*_end/module", "hook/on_fit_end/module"));
  EXPECT_TRUE(matches("hook/*", "hook/x"));
  EXPECT_TRUE(matches("hook/a*b*c", "hook/abbc"));
  EXPECT_TRUE(matches("hook/a*", "hook/a"));
  EXPECT_FALSE(matches("hook/*", "hook/setup/module"));
  EXPECT_FALSE(matches("hook/*/module", "hook/module"));
  EXPECT_FALSE(matches("hook/a*b", "hook/abc"));
}

TEST(PatternTest, TwoStarsStandForAnyNumberOfLevels) {
  EXPECT_TRUE(matches("**", "hook/setup/module"));
  EXPECT_TRUE(matches("hook/**", "hook/setup/module"));
  EXPECT_TRUE(matches("hook/**/module", "hook/module"));
  EXPECT_TRUE(matches("hook/**/module", "hook/a/b/c/module"));
  EXPECT_TRUE(matches("**/**/**/c", "a/b/c"));
  EXPECT_FALSE(matches("hook/**/module", "hook/a/modules"));
  EXPECT_FALSE(matches("op/**", "hook/a"));
}

TEST(PatternTest, AfterIsMatchedByAfterAlone) {
  EXPECT_TRUE(matches("hook/**:after", "hook/a/b:after"));
  EXPECT_FALSE(matches("hook/**", "hook/a/b:after"));
  EXPECT_FALSE(matches("hook/**:after", "hook/a/b"));
  EXPECT_FALSE(matches("hook/a/*", "hook/a/b:after"));
}

TEST(PatternTest, ChoosingTakesInBothUnlessAfterIsAskedFor) {
  EXPECT_TRUE(NamePattern("hook/**").selects("hook/a/b:after"));
  EXPECT_TRUE(NamePattern("hook/**").selects("hook/a/b"));
  EXPECT_FALSE(NamePattern("hook/**:after").selects("hook/a/b"));
}

TEST(PatternTest, ManyStarsStayFast) {
  const std::string name = "hook/" + std::string(2000, 'a');
  EXPECT_FALSE(NamePattern("hook/*a*a*a*a*a*a*a*a*b").matches(name));
}

TEST(PatternTest, AnUnreadablePatternSaysWhy) {
  EXPECT_EQ(message_of([] { NamePattern("hook/ a"); }),
            "'hook/ a' is no pattern of points: ' ' can't be part of a name; "
            "use letters, digits and _ . : # -");
}

TEST(PointTest, ANameKeepsItsNumber) {
  const PointId a = intern("hook/point_test/a");
  const PointId b = intern("hook/point_test/b");
  EXPECT_EQ(intern("hook/point_test/a"), a);
  EXPECT_NE(a, b);
  EXPECT_EQ(name_of(a), "hook/point_test/a");
  EXPECT_EQ(find_point("hook/point_test/b"), b);
  EXPECT_EQ(find_point("hook/point_test/never"), std::nullopt);
  EXPECT_EQ(name_of({4000000000}), "");
}

TEST(PointTest, ThousandsOfNamesFindTheirPlace) {
  std::vector<PointId> ids;
  for (int i = 0; i < 3000; ++i) {
    ids.push_back(intern("op/point_test." + std::to_string(i)));
  }
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(name_of(ids[static_cast<std::size_t>(i)]),
              "op/point_test." + std::to_string(i));
  }
}

TEST(PointTest, AGlobIsNoPoint) {
  EXPECT_EQ(message_of([] { intern("hook/*"); }),
            "'hook/*' is no name for a fault point: '*' can't be part of it; "
            "give the point's full name");
}

}  // namespace
}  // namespace mishap::faultinject
