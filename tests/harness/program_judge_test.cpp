#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/harness/program/catch_line.h>
#include <mishap/trainer/harness/program/judge.h>
#include <signal.h>

#include <string>
#include <vector>

namespace mishap::program {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
namespace sweep = faultinject::sweep;
using sweep::Outcome;

constexpr int exited(int status) { return status << 8; }

sweep::Case failing(const std::string& action,
                    const std::string& point = "io/write") {
  return sweep::make_case("program", faultinject::intern(point), 1, action,
                          sweep::Mode::kTransient);
}

CaseFacts ended(int wait_status) {
  CaseFacts facts;
  facts.has_fired = true;
  facts.wait_status = wait_status;
  return facts;
}

Outcome outcome(const std::string& action, const CaseFacts& facts) {
  return judge(failing(action), facts).outcome;
}

TEST(ProgramJudge, AnHonestStatusHolds) {
  EXPECT_EQ(outcome("errno(EIO)", ended(exited(1))), Outcome::kHeld);
}

TEST(ProgramJudge, ASuccessHidesTheFaultUnlessItIsDeclared) {
  EXPECT_EQ(outcome("errno(EIO)", ended(0)), Outcome::kSwallowed);
  sweep::Case declared = failing("errno(EIO)");
  declared.may_recover = true;
  EXPECT_EQ(judge(declared, ended(0)).outcome, Outcome::kRecovered);
}

TEST(ProgramJudge, AShortWriteIsNoFailureForWhoGoesOnWriting) {
  CaseFacts facts = ended(0);
  EXPECT_EQ(outcome("short(2)", facts), Outcome::kSwallowed);
  facts.is_as_clean = true;
  EXPECT_EQ(outcome("short(2)", facts), Outcome::kRecovered);
}

TEST(ProgramJudge, ADeathIsACrashUnlessItIsTheFault) {
  EXPECT_EQ(outcome("errno(EIO)", ended(SIGSEGV)), Outcome::kCrashed);
  EXPECT_EQ(outcome("throw(bad_alloc)", ended(SIGABRT)), Outcome::kCrashed);
  EXPECT_EQ(outcome("signal(SIGKILL)", ended(SIGKILL)), Outcome::kHeld);
  CaseFacts torn = ended(SIGKILL);
  torn.torn = {"out.txt"};
  EXPECT_EQ(outcome("signal(SIGKILL)", torn), Outcome::kViolated);
}

TEST(ProgramJudge, WhatDidNotEndHangs) {
  CaseFacts facts = ended(SIGKILL);
  facts.was_hung = true;
  EXPECT_EQ(outcome("errno(EIO)", facts), Outcome::kHung);
}

TEST(ProgramJudge, WithoutAFaultThereIsNothingToJudge) {
  CaseFacts facts = ended(SIGSEGV);
  facts.has_fired = false;
  EXPECT_EQ(outcome("errno(EIO)", facts), Outcome::kNotFired);
}

TEST(ProgramJudge, EachBrokenPromiseIsNamedAndThoseLookedAt) {
  CaseFacts facts = ended(exited(1));
  facts.torn = {"out.txt"};
  facts.stray = std::vector<std::string>();
  facts.children = 2;
  facts.rerun = "it exited with status 1";
  facts.check = "";
  const sweep::Verdict verdict = judge(failing("errno(EIO)"), facts);
  EXPECT_EQ(verdict.outcome, Outcome::kViolated);
  EXPECT_THAT(verdict.violated, ElementsAre("atomic", "children", "rerun"));
  EXPECT_THAT(verdict.checked,
              ElementsAre("atomic", "stray", "children", "rerun", "check"));
}

TEST(ProgramJudge, WhatWasNotLookedAtIsNotHeldAgainstIt) {
  const sweep::Verdict verdict = judge(failing("errno(EIO)"), ended(exited(1)));
  EXPECT_THAT(verdict.checked, IsEmpty());
}

const std::vector<std::string> kSource{"def step(batch):",             // 1
                                       "    for item in batch:",       // 2
                                       "        try:",                 // 3
                                       "            # a comment",      // 4
                                       "            if item:",         // 5
                                       "                train(item)",  // 6
                                       "        except ValueError:",   // 7
                                       "            continue",         // 8
                                       "        finally:",             // 9
                                       "            count()",          // 10
                                       "try:",                         // 11
                                       "    step([1])",                // 12
                                       "except Exception as error:",   // 13
                                       "    print(error)",             // 14
                                       "step([2])"};                   // 15

TEST(ProgramCatchLine, FindsTheExceptOfTheTryThatHoldsTheLine) {
  EXPECT_EQ(except_line(kSource, 6), 7);
  EXPECT_EQ(except_line(kSource, 12), 13);
}

TEST(ProgramCatchLine, OutsideOfATryThereIsNone) {
  EXPECT_EQ(except_line(kSource, 15), 0);
  EXPECT_EQ(except_line(kSource, 2), 0);
  EXPECT_EQ(except_line(kSource, 99), 0);
}

TEST(ProgramCatchLine, ReadsALineOfPython) {
  const auto line = python_line("/a b/train.py:41 step");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->file, "/a b/train.py");
  EXPECT_EQ(line->line, 41);
  EXPECT_EQ(line->function, "step");
  EXPECT_FALSE(python_line("nothing"));
}

}  // namespace
}  // namespace mishap::program
