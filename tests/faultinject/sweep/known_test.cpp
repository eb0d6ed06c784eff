#include <gmock/gmock.h>
#include <mishap/faultinject/sweep/driver.h>
#include <mishap/faultinject/sweep/known.h>

#include <fstream>

#include "../support.h"
#include "fake_subject.h"

namespace mishap::faultinject::sweep {
namespace {

std::filesystem::path folder(const char* name) {
  const auto path = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove_all(path);
  return path;
}

TEST(KnownTest, FindingsOfAnEarlierSweepPassAndNewOnesFail) {
  FakeSubject subject;
  subject.swallowing = {"hook/b/module"};
  Options first;
  first.out = folder("known_first");
  EXPECT_EQ(run_sweep(subject, first).exit_status(), 3);

  Options second;
  second.known = first.out / "cases.jsonl";
  const Summary same = run_sweep(subject, second);
  EXPECT_EQ(same.tally.known, 1u);
  EXPECT_EQ(same.tally[Outcome::kSwallowed], 1u);
  EXPECT_EQ(same.exit_status(), 0);

  subject.swallowing = {"hook/b/module", "hook/a/module:after"};
  EXPECT_EQ(run_sweep(subject, second).exit_status(), 3);
}

TEST(KnownTest, AFindingMayNotGetWorse) {
  const auto path = folder("known_worse");
  std::filesystem::create_directories(path);
  const Case failing = make_case("fit", intern("hook/a/module"), 1,
                                 "throw(int)", Mode::kTransient);
  std::ofstream(path / "cases.jsonl")
      << R"({"id": ")" << failing.id
      << R"(", "outcome": "violated", "violated": ["C2", "C4"]})"
      << "\n\n"
      << R"({"id": "x", "outcome": "held", "violated": []})"
      << "\n";
  const KnownFindings known(path / "cases.jsonl");
  EXPECT_EQ(known.size(), 1u);
  Verdict verdict;
  verdict.outcome = Outcome::kViolated;
  verdict.violated = {"C4"};
  EXPECT_TRUE(known.covers(failing, verdict));
  verdict.violated = {"C2", "C9"};
  EXPECT_FALSE(known.covers(failing, verdict));
  verdict.violated = {};
  verdict.outcome = Outcome::kCrashed;
  EXPECT_FALSE(known.covers(failing, verdict));
}

TEST(KnownTest, AnUnreadableBaselineNamesTheLine) {
  const auto path = folder("known_bad");
  std::filesystem::create_directories(path);
  const auto file = path / "cases.jsonl";
  EXPECT_EQ(message_of([&] { KnownFindings{file}; }),
            "the baseline " + file.string() +
                " can't be read; name the cases.jsonl of a sweep");
  std::ofstream(file) << R"({"id":"a","outcome":"held"})"
                      << "\n{\n";
  EXPECT_THAT(message_of([&] { KnownFindings{file}; }),
              ::testing::StartsWith("line 2 of the baseline "));
  std::ofstream(file) << R"({"id":"a","outcome":"great","violated":[]})";
  EXPECT_THAT(message_of([&] { KnownFindings{file}; }),
              ::testing::HasSubstr("there is no outcome 'great'"));
}

}  // namespace
}  // namespace mishap::faultinject::sweep
