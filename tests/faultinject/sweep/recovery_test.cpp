#include <gmock/gmock.h>
#include <mishap/fault_point.h>
#include <mishap/faultinject/sweep/driver.h>

#include "fake_subject.h"

namespace mishap::faultinject::sweep {

inline void loads_and_tries_again() {
  MISHAP_RECOVERABLE_FAULT_POINT("recovery/load");
  MISHAP_RECOVERABLE_FAULT_POINT("recovery/load_again");
}
inline void parses() { MISHAP_FAULT_POINT("recovery/parse"); }

namespace {

constexpr char kLoad[] = "user/recovery/load";
constexpr char kAgain[] = "user/recovery/load_again";
constexpr char kParse[] = "user/recovery/parse";

// All three swallow what strikes them; one is not allowed to.
FakeSubject forgiving() {
  FakeSubject subject;
  subject.programs = {{"fit", {kLoad, kAgain, kParse}}};
  subject.swallowing = {kLoad, kAgain, kParse};
  return subject;
}

Options sweep_of(const char* point, bool pairs = false) {
  Options options;
  options.points = {NamePattern(point)};
  options.pairs = pairs;
  return options;
}

TEST(RecoveryTest, IsDeclaredAtThePoint) {
  FakeSubject subject = forgiving();
  const Summary summary = run_sweep(subject, {});
  EXPECT_EQ(summary.tally[Outcome::kRecovered], 2u);
  EXPECT_EQ(summary.tally[Outcome::kSwallowed], 1u);
  EXPECT_TRUE(subject.cases[0].may_recover);
  EXPECT_FALSE(subject.cases[2].may_recover);
}

TEST(RecoveryTest, DoesNotExcuseABrokenClause) {
  FakeSubject subject = forgiving();
  subject.judged = [](const Case&, Verdict& verdict) {
    verdict.violated = {"C9"};
  };
  const Summary summary = run_sweep(subject, sweep_of(kLoad));
  EXPECT_EQ(summary.tally[Outcome::kRecovered], 0u);
  EXPECT_EQ(summary.tally[Outcome::kViolated], 1u);
  EXPECT_EQ(summary.exit_status(), 3);
}

TEST(RecoveryTest, OfAPairNeedsBothPoints) {
  FakeSubject subject = forgiving();
  const Summary summary = run_sweep(subject, sweep_of(kLoad, true));
  ASSERT_EQ(summary.cases, 2u);
  EXPECT_TRUE(subject.cases[0].may_succeed());
  EXPECT_FALSE(subject.cases[1].may_succeed());
  EXPECT_EQ(summary.tally[Outcome::kRecovered], 1u);
  EXPECT_EQ(summary.tally[Outcome::kSwallowed], 1u);
}

TEST(RecoveryTest, OfTheFirstFaultLeavesTheSecondToFailTheRun) {
  FakeSubject subject = forgiving();
  subject.swallowing = {kLoad};
  const Summary summary = run_sweep(subject, sweep_of(kLoad, true));
  EXPECT_EQ(summary.tally[Outcome::kHeld], 2u);
  EXPECT_FALSE(subject.cases[0].second->first_is_heard);
}

TEST(RecoveryTest, ASecondErrorDoesNotCoverUpASwallowedFirst) {
  FakeSubject subject = forgiving();
  subject.programs = {{"fit", {kParse, kLoad}}};
  subject.swallowing = {kParse};
  const Summary summary = run_sweep(subject, sweep_of(kParse, true));
  EXPECT_EQ(summary.tally[Outcome::kSwallowed], 1u);
  EXPECT_EQ(summary.exit_status(), 3);
}

}  // namespace
}  // namespace mishap::faultinject::sweep
