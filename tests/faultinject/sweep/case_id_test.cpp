#include <gmock/gmock.h>
#include <mishap/faultinject/sweep/case_id.h>
#include <mishap/faultinject/sweep/driver.h>

#include "../support.h"
#include "fake_subject.h"

namespace mishap::faultinject::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FakeSubject program() {
  FakeSubject subject;
  subject.programs = {
      {"fit", {"hook/a/m", "hook/a/m:after", "hook/b/c:1", "hook/a/m"}},
      {"test", {"hook/a/m"}}};
  subject.cleanup = {"hook/a/m", "hook/c/m:after"};
  return subject;
}

std::vector<std::string> ids(Options options) {
  FakeSubject subject = program();
  options.actions = {"throw(runtime)",
                     "throw(runtime, \"a:1:b:transient+c:2\")"};
  options.modes = {Mode::kTransient, Mode::kPersistent};
  run_sweep(subject, options);
  std::vector<std::string> all;
  for (const Case& failing : subject.cases) all.push_back(failing.id);
  return all;
}

void expect_each_to_repeat_itself(const std::vector<std::string>& all) {
  ASSERT_GT(all.size(), 10u);
  for (const std::string& id : all) {
    FakeSubject subject = program();
    Options options;
    choose_case(options, id);
    const Summary summary = run_sweep(subject, options);
    ASSERT_EQ(subject.cases.size(), 1u) << id;
    EXPECT_EQ(subject.cases[0].id, id);
    EXPECT_EQ(summary.cases, 1u) << id;
    EXPECT_EQ(summary.exit_status(), 0) << id;
  }
}

TEST(CaseIdTest, ChoosesTheCaseThatHasIt) {
  expect_each_to_repeat_itself(ids({}));
}

TEST(CaseIdTest, ChoosesThePairThatHasIt) {
  Options options;
  options.pairs = true;
  expect_each_to_repeat_itself(ids(options));
}

TEST(CaseIdTest, ScoutsTheFirstFaultOfItsPairOnly) {
  FakeSubject subject = program();
  Options options;
  choose_case(options,
              "fit:hook/a/m:2:throw(runtime):transient+hook/c/m:after:1");
  run_sweep(subject, options);
  EXPECT_THAT(subject.scouted,
              ElementsAre("fit:hook/a/m:2:throw(runtime):transient"));
}

TEST(CaseIdTest, RefusesWhatIsNone) {
  for (const char* text :
       {"", "fit", "fit:hook/a/m:1:throw(runtime)", ":transient",
        "fit:hook/a/m:0:throw(runtime):transient",
        "fit:hook/a/m:throw(runtime):transient", "fit:hook/a/m:1::transient",
        "fit:hook/a/m:1:throw(runtime):transient+hook/b",
        "fit:hook//m:1:throw(runtime):transient"}) {
    Options options;
    EXPECT_THAT(message_of([&] { choose_case(options, text); }),
                HasSubstr("is no id of a case"))
        << text;
  }
}

TEST(CaseIdTest, RefusesCasesThatTheProgramDoesNotHave) {
  const auto refusal = [](std::string_view id) {
    FakeSubject subject = program();
    Options options;
    choose_case(options, id);
    return message_of([&] { run_sweep(subject, options); });
  };
  EXPECT_THAT(refusal("fits:hook/a/m:1:throw(runtime):transient"),
              HasSubstr("did you mean 'fit'?"));
  EXPECT_THAT(refusal("fit:hook/a/m:3:throw(runtime):transient"),
              HasSubstr("there is no hit 3 of 'hook/a/m'"));
  EXPECT_THAT(refusal("fit:hook/a/m:1:throw(runtime):transient+hook/b/c:1:1"),
              HasSubstr("hit 1 of 'hook/b/c:1' does not follow"));
}

}  // namespace
}  // namespace mishap::faultinject::sweep
