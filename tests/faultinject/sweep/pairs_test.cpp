#include <gmock/gmock.h>
#include <mishap/faultinject/sweep/driver.h>
#include <mishap/faultinject/sweep/known.h>
#include <mishap/faultinject/sweep/pairs.h>

#include "../support.h"
#include "fake_subject.h"

namespace mishap::faultinject::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

std::vector<std::string> ids(const FakeSubject& subject) {
  std::vector<std::string> all;
  for (const Case& failing : subject.cases) all.push_back(failing.id);
  return all;
}

// Two hits of one point, then a cleanup of three hits of two points.
FakeSubject failing_twice() {
  FakeSubject subject;
  subject.programs = {{"fit", {"hook/a/m", "hook/a/m"}}};
  subject.cleanup = {"hook/c/m", "hook/a/m", "hook/c/m"};
  return subject;
}

Options pairs() {
  Options options;
  options.pairs = true;
  return options;
}

TEST(PairsTest, EveryHitThatFollowsTheFirstFaultFailsAsWell) {
  FakeSubject subject = failing_twice();
  const Summary summary = run_sweep(subject, pairs());
  const std::string first = "fit:hook/a/m:1:throw(runtime):transient";
  const std::string second = "fit:hook/a/m:2:throw(runtime):transient";
  EXPECT_THAT(ids(subject),
              ElementsAre(first + "+hook/c/m:1", first + "+hook/a/m:2",
                          first + "+hook/c/m:2", second + "+hook/c/m:1",
                          second + "+hook/a/m:3", second + "+hook/c/m:2"));
  EXPECT_EQ(summary.hits, 2u);
  EXPECT_EQ(summary.cases, 6u);
  EXPECT_EQ(summary.tally[Outcome::kHeld], 6u);
  EXPECT_EQ(summary.entry_points[0].cases, 6u);
  EXPECT_TRUE(summary.exhaustive);
  EXPECT_EQ(summary.exit_status(), 0);
}

TEST(PairsTest, AreOneRuleWithAChainOrTwoItems) {
  FakeSubject subject = failing_twice();
  run_sweep(subject, pairs());
  EXPECT_EQ(subject.cases[0].spec,
            "hook/a/m=1*throw(runtime);hook/c/m=1*throw(runtime)");
  EXPECT_EQ(subject.cases[1].spec,
            "hook/a/m=1*throw(runtime)->1*throw(runtime)");
  EXPECT_EQ(subject.cases[5].spec,
            "hook/a/m=1*off->1*throw(runtime);"
            "hook/c/m=1*off->1*throw(runtime)");
  const PointId a = intern("hook/a/m");
  EXPECT_EQ(pair_of(make_case("fit", a, 3, "throw(int)", Mode::kTransient),
                    {{a, 7}, false, true})
                .spec,
            "hook/a/m=2*off->1*throw(int)->3*off->1*throw(int)");
}

TEST(PairsTest, ScoutingRunsAreNoCases) {
  FakeSubject subject = failing_twice();
  Options options = pairs();
  options.budget = 1;
  std::vector<std::uint64_t> scouting;
  options.scouts = [&](std::uint64_t done, std::uint64_t planned) {
    EXPECT_EQ(planned, 2u);
    scouting.push_back(done);
  };
  const Summary summary = run_sweep(subject, options);
  EXPECT_EQ(subject.scouted.size(), 2u);
  EXPECT_THAT(scouting, ElementsAre(1u, 2u));
  EXPECT_EQ(summary.tally.ran, 1u);
  EXPECT_EQ(summary.cases, 6u);
}

TEST(PairsTest, AreFoundForEveryActionAndMode) {
  FakeSubject subject = failing_twice();
  Options options = pairs();
  options.actions = {"throw(runtime)", "throw(system)"};
  options.modes = {Mode::kTransient, Mode::kPersistent};
  // A persistent fault fails the cleanup's hit of its own point by itself.
  EXPECT_EQ(run_sweep(subject, options).cases, 2u * 6 + 2u * 4);
  EXPECT_THAT(ids(subject),
              ::testing::Contains(
                  "fit:hook/a/m:1:throw(system):persistent+hook/c/m:2"));
}

TEST(PairsTest, ThatTheSecondHitCannotTakeAreLeftOut) {
  FakeSubject subject = failing_twice();
  subject.programs = {{"fit", {"io/pairs/write"}}};
  subject.cleanup = {"hook/c/m", "io/pairs/unlink"};
  const PointId written = intern("io/pairs/write");
  const auto following =
      hits_after(make_case("fit", written, 1, "errno(EIO)", Mode::kTransient),
                 {written, intern("hook/c/m"), intern("io/pairs/unlink")});
  EXPECT_THAT(following, ElementsAre(Hit{intern("io/pairs/unlink"), 1}));
}

TEST(PairsTest, ASecondFaultThatDoesNotStrikeIsNoSuccess) {
  FakeSubject subject = failing_twice();
  int runs = 0;
  subject.judged = [&](const Case& failing, Verdict&) {
    if (failing.second && ++runs == 1) subject.cleanup.clear();
  };
  const Summary summary = run_sweep(subject, pairs());
  EXPECT_EQ(summary.tally[Outcome::kHeld], 1u);
  // The chain of one point loses its second fault like the two items do.
  EXPECT_EQ(summary.tally[Outcome::kNotFired], 5u);
  EXPECT_EQ(summary.exit_status(), 3);
}

TEST(PairsTest, AScoutingRunThatDiffersBeforeItsFaultIsNamed) {
  FakeSubject subject = failing_twice();
  subject.programs = {{"fit", {"hook/a/m", "hook/b/m"}}};
  subject.unsteady = [](int run, std::vector<std::string>& points) {
    if (run > 2) points.insert(points.begin() + 1, "hook/odd/m");
  };
  const Summary summary = run_sweep(subject, pairs());
  EXPECT_EQ(summary.cases, 3u);
  EXPECT_EQ(summary.entry_points[0].difference,
            "hit 2 is 'hook/b/m' in one run and 'hook/odd/m' in another, "
            "before its fault struck; likely cause: state that grows from run "
            "to run");
  EXPECT_EQ(summary.exit_status(), 3);
}

TEST(PairsTest, BudgetAndShardsAreTakenFromAllPairs) {
  FakeSubject all = failing_twice();
  run_sweep(all, pairs());
  const std::vector<std::string> whole = ids(all);
  std::vector<std::string> together;
  for (std::uint32_t index = 1; index <= 4; ++index) {
    FakeSubject part = failing_twice();
    Options options = pairs();
    options.shard = {index, 4};
    run_sweep(part, options);
    for (const std::string& id : ids(part)) together.push_back(id);
  }
  EXPECT_THAT(together, UnorderedElementsAreArray(whole));

  FakeSubject some = failing_twice();
  Options options = pairs();
  options.budget = 3;
  EXPECT_EQ(run_sweep(some, options).tally.ran, 3u);
  // One of the first two, one of the middle two, one of the last two.
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(ids(some)[i], ::testing::AnyOf(whole[2 * i], whole[2 * i + 1]));
  }
}

TEST(PairsTest, AreKnownByTheirOwnIds) {
  const auto out = std::filesystem::path(::testing::TempDir()) / "pairs_known";
  std::filesystem::remove_all(out);
  FakeSubject subject = failing_twice();
  subject.judged = [](const Case& failing, Verdict& verdict) {
    if (!failing.second || failing.second->hit.index != 3) return;
    verdict.outcome = Outcome::kViolated;
    verdict.violated = {"C2"};
  };
  Options options = pairs();
  options.out = out;
  EXPECT_EQ(run_sweep(subject, options).exit_status(), 3);

  options.known = out / "cases.jsonl";
  options.out.clear();
  const Summary again = run_sweep(subject, options);
  EXPECT_EQ(again.tally.known, 1u);
  EXPECT_EQ(again.exit_status(), 0);
  const Case single = make_case("fit", intern("hook/a/m"), 2, "throw(runtime)",
                                Mode::kTransient);
  Verdict verdict;
  verdict.outcome = Outcome::kViolated;
  verdict.violated = {"C2"};
  EXPECT_FALSE(KnownFindings(options.known).covers(single, verdict));
}

TEST(PairsTest, ASweepWithoutPairsIsAnError) {
  FakeSubject subject;
  subject.programs = {{"fit", {"hook/a/m"}}};
  EXPECT_THAT(message_of([&] { run_sweep(subject, pairs()); }),
              HasSubstr("no hit follows a fault"));
  EXPECT_THAT(subject.cases, IsEmpty());
}

TEST(PairListTest, FindsAPairByItsNumber) {
  const PointId a = intern("hook/pair_list/a");
  PairList list;
  list.add(0, true, {{a, 1}, {a, 2}});
  list.add(1, true, {});
  list.add(4, false, {{a, 3}});
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list.at(1).first, 0u);
  EXPECT_EQ(list.at(1).second, (Hit{a, 2}));
  EXPECT_TRUE(list.at(1).first_is_heard);
  EXPECT_EQ(list.at(2).first, 4u);
  EXPECT_FALSE(list.at(2).first_is_heard);
  EXPECT_THROW(list.at(3), std::out_of_range);
}

}  // namespace
}  // namespace mishap::faultinject::sweep
