#include <gmock/gmock.h>
#include <mishap/faultinject/sweep/driver.h>

#include "../support.h"
#include "fake_subject.h"

namespace mishap::faultinject::sweep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> ids(const FakeSubject& subject) {
  std::vector<std::string> all;
  for (const Case& failing : subject.cases) all.push_back(failing.id);
  return all;
}

TEST(SweepTest, FailsEveryHitWithEveryActionInEveryMode) {
  FakeSubject subject;
  Options options;
  options.entry_points = {"test"};
  options.actions = {"throw(runtime)", "throw(system)"};
  options.modes = {Mode::kTransient, Mode::kPersistent};
  const Summary summary = run_sweep(subject, options);
  EXPECT_THAT(ids(subject),
              ElementsAre("test:hook/a/module:1:throw(runtime):transient",
                          "test:hook/a/module:1:throw(runtime):persistent",
                          "test:hook/a/module:1:throw(system):transient",
                          "test:hook/a/module:1:throw(system):persistent",
                          "test:hook/a/module:2:throw(runtime):transient",
                          "test:hook/a/module:2:throw(runtime):persistent",
                          "test:hook/a/module:2:throw(system):transient",
                          "test:hook/a/module:2:throw(system):persistent"));
  EXPECT_EQ(subject.cases[0].spec, "hook/a/module=1*throw(runtime)");
  EXPECT_EQ(subject.cases[5].spec, "hook/a/module=1*off->throw(runtime)");
  EXPECT_EQ(summary.cases, 8u);
  EXPECT_EQ(summary.tally[Outcome::kHeld], 8u);
  EXPECT_TRUE(summary.exhaustive);
  EXPECT_EQ(summary.exit_status(), 0);
}

TEST(SweepTest, CountsPointsHitsCasesAndClauses) {
  FakeSubject subject;
  const Summary summary = run_sweep(subject, {});
  EXPECT_EQ(summary.points, 3u);
  EXPECT_EQ(summary.hits, 5u);
  EXPECT_EQ(summary.cases, 5u);
  EXPECT_EQ(summary.tally.ran, 5u);
  EXPECT_EQ(summary.tally.fired(), 5u);
  EXPECT_EQ(summary.tally.records, 5u);
  ASSERT_THAT(summary.entry_points, SizeIs(2));
  EXPECT_EQ(summary.entry_points[0].name, "fit");
  EXPECT_EQ(summary.entry_points[0].cases, 3u);
  EXPECT_EQ(summary.entry_points[1].hits, 2u);
  EXPECT_THAT(summary.clauses,
              ElementsAre(AllOf(Field(&ClauseRow::name, "C1"),
                                Field(&ClauseRow::checked, 5u),
                                Field(&ClauseRow::violated, 0u)),
                          Field(&ClauseRow::name, "C2")));
}

TEST(SweepTest, AFaultThatNobodyHearsOfIsFoundAndDoesNotEndTheSweep) {
  FakeSubject subject;
  subject.swallowing = {"hook/a/module"};
  const Summary summary = run_sweep(subject, {});
  EXPECT_EQ(summary.tally[Outcome::kSwallowed], 3u);
  EXPECT_EQ(summary.tally[Outcome::kHeld], 2u);
  EXPECT_EQ(summary.tally.ran, 5u);
  EXPECT_EQ(summary.exit_status(), 3);
}

TEST(SweepTest, ASwallowedFaultMayBeDeclaredARecovery) {
  FakeSubject subject;
  subject.swallowing = {"hook/a/module"};
  Options options;
  options.recovers = {NamePattern("hook/a/*")};
  const Summary summary = run_sweep(subject, options);
  EXPECT_EQ(summary.tally[Outcome::kSwallowed], 0u);
  EXPECT_EQ(summary.tally[Outcome::kRecovered], 3u);
  EXPECT_EQ(summary.exit_status(), 0);
}

TEST(SweepTest, ViolatedClausesAreCountedByName) {
  FakeSubject subject;
  subject.judged = [](const Case& failing, Verdict& verdict) {
    if (failing.hit != 2 || verdict.outcome != Outcome::kHeld) return;
    verdict.outcome = Outcome::kViolated;
    verdict.violated = {"C2"};
  };
  const Summary summary = run_sweep(subject, {});
  EXPECT_EQ(summary.tally[Outcome::kViolated], 1u);
  EXPECT_EQ(summary.clauses[1].violated, 1u);
  EXPECT_EQ(summary.exit_status(), 3);
}

TEST(SweepTest, ChoosesPointsByGlob) {
  FakeSubject subject;
  Options options;
  options.points = {NamePattern("hook/*/module:after"),
                    NamePattern("hook/b/*")};
  run_sweep(subject, options);
  EXPECT_THAT(
      ids(subject),
      ElementsAre("fit:hook/b/module:1:throw(runtime):transient",
                  "fit:hook/a/module:after:1:throw(runtime):transient"));
}

TEST(SweepTest, ARunThatDiffersFromItsBaselineIsNamed) {
  FakeSubject subject;
  subject.unsteady = [](int run, std::vector<std::string>& points) {
    if (run % 2 == 0) points.insert(points.begin() + 1, "hook/odd/module");
  };
  Options options;
  options.entry_points = {"fit"};
  const Summary summary = run_sweep(subject, options);
  EXPECT_FALSE(summary.exhaustive);
  EXPECT_EQ(summary.exit_status(), 3);
  EXPECT_EQ(summary.entry_points[0].difference,
            "hit 2 is 'hook/b/module' in one run and 'hook/odd/module' in "
            "another; likely cause: every run differs: randomness without a "
            "seed, the clock, or state that grows from run to run");
}

TEST(SweepTest, HitsBehindTheBaselinesEndAreFound) {
  FakeSubject subject;
  subject.unsteady = [](int run, std::vector<std::string>& points) {
    if (run > 2) points.push_back("hook/a/module");
  };
  Options options;
  options.entry_points = {"test"};
  const Summary summary = run_sweep(subject, options);
  EXPECT_EQ(summary.cases, 2u);
  EXPECT_EQ(summary.tally[Outcome::kHeld], 2u);
  EXPECT_FALSE(summary.exhaustive);
  EXPECT_EQ(summary.exit_status(), 3);
  EXPECT_EQ(summary.entry_points[0].difference,
            "'hook/a/module' was hit 2 times in the baseline and more often "
            "later; likely cause: state that grows from run to run");
}

TEST(SweepTest, AFaultWhoseHitNeverComesIsNoSuccess) {
  FakeSubject subject;
  subject.unsteady = [](int run, std::vector<std::string>& points) {
    if (run > 2) points.pop_back();
  };
  Options options;
  options.entry_points = {"test"};
  const Summary summary = run_sweep(subject, options);
  EXPECT_EQ(summary.tally[Outcome::kNotFired], 1u);
  EXPECT_EQ(summary.tally.fired(), 1u);
  EXPECT_EQ(summary.exit_status(), 3);
}

TEST(SweepTest, ShardsAreDisjointAndTogetherComplete) {
  FakeSubject all;
  run_sweep(all, {});
  std::vector<std::string> together;
  for (std::uint32_t index = 1; index <= 3; ++index) {
    FakeSubject part;
    Options options;
    options.shard = {index, 3};
    const Summary summary = run_sweep(part, options);
    EXPECT_EQ(summary.cases, 5u);
    EXPECT_FALSE(summary.exhaustive);
    EXPECT_EQ(summary.exit_status(), 0);
    for (const std::string& id : ids(part)) together.push_back(id);
  }
  EXPECT_THAT(together, ::testing::UnorderedElementsAreArray(ids(all)));
}

TEST(SweepTest, ABudgetIsSpentExactly) {
  FakeSubject subject;
  Options options;
  options.budget = 3;
  const Summary summary = run_sweep(subject, options);
  EXPECT_EQ(summary.cases, 5u);
  EXPECT_EQ(summary.tally.ran, 3u);
  EXPECT_FALSE(summary.exhaustive);
  EXPECT_EQ(summary.exit_status(), 0);
}

TEST(SweepTest, TellsItsProgressAfterEveryCase) {
  FakeSubject subject;
  subject.swallowing = {"hook/b/module"};
  std::vector<std::uint64_t> done;
  std::vector<std::string> bad;
  run_sweep(subject, {}, [&](const Progress& progress) {
    EXPECT_EQ(progress.planned, 5u);
    done.push_back(progress.done);
    if (progress.is_bad) bad.push_back(progress.failing.id);
  });
  EXPECT_THAT(done, ElementsAre(1u, 2u, 3u, 4u, 5u));
  EXPECT_THAT(bad, ElementsAre("fit:hook/b/module:1:throw(runtime):transient"));
}

TEST(SweepTest, ASweepWithoutCasesIsAnErrorAndNoSuccess) {
  FakeSubject subject;
  Options options;
  options.points = {NamePattern("hook/typo/**")};
  EXPECT_THROW(run_sweep(subject, options), SweepError);
  EXPECT_THAT(message_of([&] { run_sweep(subject, options); }),
              HasSubstr("there is nothing to sweep"));
}

TEST(SweepTest, BadOptionsAreRefusedBeforeAnyCaseRuns) {
  FakeSubject subject;
  Options options;
  options.entry_points = {"tset"};
  EXPECT_EQ(message_of([&] { run_sweep(subject, options); }),
            "there is no entry point 'tset'; did you mean 'test'?");
  options = {};
  options.actions = {"thow(int)"};
  EXPECT_THAT(message_of([&] { run_sweep(subject, options); }),
              HasSubstr("did you mean 'throw'?"));
  options.actions = {"errno(EIO)"};
  EXPECT_THAT(message_of([&] { run_sweep(subject, options); }),
              HasSubstr("'errno' can't be done at 'hook/a/module'"));
  options.actions = {};
  EXPECT_THROW(run_sweep(subject, options), SweepError);
  EXPECT_THAT(subject.cases, IsEmpty());
}

TEST(SweepTest, WhatTheSubjectThrowsIsPassedOn) {
  FakeSubject subject;
  subject.judged = [](const Case&, Verdict&) {
    throw std::domain_error("the harness is broken");
  };
  EXPECT_THROW(run_sweep(subject, {}), std::domain_error);
}

// Threads of a program may take turns as they like.
TEST(SummaryTest, ABaselineThatDiffersIsAFindingWhereItMustRepeat) {
  Summary summary;
  summary.entry_points.emplace_back().difference = "other hits";
  EXPECT_EQ(summary.exit_status(), 3);
  summary.must_repeat = false;
  EXPECT_EQ(summary.exit_status(), 0);
}

}  // namespace
}  // namespace mishap::faultinject::sweep
