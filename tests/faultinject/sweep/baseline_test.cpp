#include <gmock/gmock.h>
#include <mishap/faultinject/sweep/baseline.h>

#include "fake_subject.h"

namespace mishap::faultinject::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Baseline baseline_of(
    std::function<void(int run, std::vector<std::string>& points)> unsteady) {
  FakeSubject subject;
  subject.unsteady = std::move(unsteady);
  return take_baseline(subject, "fit");
}

TEST(BaselineTest, TwoEqualRunsAreEnough) {
  int runs = 0;
  const Baseline baseline = baseline_of([&](int run, auto&) { runs = run; });
  EXPECT_TRUE(baseline.is_deterministic());
  EXPECT_THAT(baseline.sequence, SizeIs(3));
  EXPECT_EQ(runs, 2);
}

TEST(BaselineTest, AnotherOrderHintsAtThreads) {
  const Baseline baseline = baseline_of([](int run, auto& points) {
    if (run == 2) std::swap(points[0], points[1]);
  });
  EXPECT_THAT(baseline.difference,
              HasSubstr("hit 1 is 'hook/a/module' in one run and "
                        "'hook/b/module' in another; likely cause: the same "
                        "points in another order: threads"));
}

TEST(BaselineTest, AFirstRunThatDoesMoreHintsAtLazyInitialisation) {
  const Baseline baseline = baseline_of([](int run, auto& points) {
    if (run == 1) points.push_back("hook/once/module");
  });
  EXPECT_THAT(baseline.difference,
              HasSubstr("hit 4 is 'hook/once/module' in one run and nothing in "
                        "another; likely cause: only the first run differs"));
  EXPECT_THAT(baseline.difference, HasSubstr("lazy initialisation"));
  EXPECT_THAT(baseline.sequence, SizeIs(3));
}

TEST(BaselineTest, AFirstRunThatDoesLessHintsAtWhatItLeftBehind) {
  const Baseline baseline = baseline_of([](int run, auto& points) {
    if (run > 1) points.push_back("hook/resume/module");
  });
  EXPECT_THAT(baseline.difference, HasSubstr("left something behind"));
  EXPECT_THAT(baseline.sequence, SizeIs(4));
}

TEST(BaselineTest, EqualSequencesHaveNoDifference) {
  const std::vector<PointId> points = {intern("hook/a/b"), intern("hook/c/d")};
  EXPECT_EQ(first_difference(points, points), "");
  EXPECT_EQ(first_difference(points, {points[0]}),
            "hit 2 is 'hook/c/d' in one run and nothing in another");
}

}  // namespace
}  // namespace mishap::faultinject::sweep
