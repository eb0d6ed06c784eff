#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "fake_world.h"
#include "swept.h"

namespace mishap::testing {
namespace {

using faultinject::sweep::Mode;
using faultinject::sweep::Options;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Options in_pairs() {
  Options options = all_kinds();
  options.pairs = true;
  return options;
}

Options throwing_in_pairs() {
  Options options = in_pairs();
  options.actions = {"throw(int)"};
  return options;
}

TEST(ContractPairs, HoldInTheStandardGuard) {
  const Swept swept = sweep(world(), in_pairs());
  EXPECT_THAT(swept.violated, IsEmpty()) << swept.note;
  EXPECT_EQ(swept.summary.exit_status(), 0) << swept.note;
  EXPECT_EQ(swept.summary.tally[Outcome::kHeld], swept.summary.cases);
  EXPECT_EQ(swept.records.size(), swept.summary.cases);
  // At the least on_exception and teardown of two callbacks, each before and
  // after.
  EXPECT_GT(swept.summary.cases, swept.summary.hits * 4 * 4);
}

TEST(ContractPairs, HoldWhenTheFirstFaultIsPersistent) {
  Options options = in_pairs();
  options.modes = {Mode::kPersistent};
  const Swept swept = sweep(world(), options);
  EXPECT_EQ(swept.summary.tally[Outcome::kHeld], swept.summary.cases)
      << swept.note;
  EXPECT_EQ(swept.summary.exit_status(), 0);
}

TEST(ContractPairs, LeaveTheFirstErrorInTheRecordAndTheSecondInSuppressed) {
  Options options = in_pairs();
  options.actions = {"throw(runtime)"};
  options.points = {faultinject::NamePattern("hook/on_train_start/*")};
  const Swept swept = sweep(world(), options);
  ASSERT_FALSE(swept.records.empty());
  for (const std::string& line : swept.records) {
    const auto record = nlohmann::json::parse(line);
    EXPECT_EQ(record.at("hook"), "on_train_start");
    EXPECT_THAT(record.at("exceptions").at(0).at("message"),
                ::testing::HasSubstr("hook/on_train_start/"));
    ASSERT_EQ(record.at("suppressed").size(), 1U);
    EXPECT_THAT(record.at("suppressed").at(0).at("message").get<std::string>(),
                ::testing::Not(::testing::HasSubstr("hook/on_train_start/")));
  }
}

TEST(ContractPairs, ScoutingLeavesNoRecords) {
  Options options = in_pairs();
  options.budget = 1;
  EXPECT_EQ(sweep(world(), options).records.size(), 1U);
}

// A hook of its own that a callback has only while a failed run is torn down:
// no single fault gets there.
class WorksInCleanup : public FakeWorld {
 private:
  void on_hook(Run& run, Hook hook, Component component) override {
    if (hook == Hook::kTeardown && run.failure() != nullptr) {
      clean_up([&] { run.call(Hook::kSave, component, [] {}); });
    }
  }
  virtual void clean_up(const std::function<void()>& work) { work(); }
};

TEST(ContractPairs, HoldWhereOnlyAFailedRunGets) {
  const Swept swept = sweep(world<WorksInCleanup>(), in_pairs());
  EXPECT_EQ(swept.summary.exit_status(), 0) << swept.note;
}

class DropsSecondErrors final : public WorksInCleanup {
  void clean_up(const std::function<void()>& work) override {
    try {
      work();
    } catch (...) {
    }
  }
};

TEST(ContractPairs, ReportASecondErrorThatIsInNoRecordUnderOneRecord) {
  const Swept swept = sweep(world<DropsSecondErrors>(), throwing_in_pairs());
  EXPECT_THAT(swept.violated, ElementsAre("C2"));
  EXPECT_THAT(swept.note, ::testing::HasSubstr("the second error"));
  EXPECT_EQ(sweep(world<DropsSecondErrors>()).summary.exit_status(), 0)
      << "a single fault finds it too: the test proves nothing of pairs";
}

TEST(ContractPairs, MayRecoverFromASecondErrorWhereThatIsDeclared) {
  Options options = throwing_in_pairs();
  options.recovers = {faultinject::NamePattern("hook/save/*")};
  const Swept swept = sweep(world<DropsSecondErrors>(), options);
  EXPECT_EQ(swept.summary.tally[Outcome::kHeld], swept.summary.cases)
      << swept.note;
}

class LeavesHandlerAfterSecondError final : public WorksInCleanup {
 public:
  ~LeavesHandlerAfterSecondError() override { std::signal(SIGUSR2, SIG_DFL); }

 private:
  void clean_up(const std::function<void()>& work) override {
    std::signal(SIGUSR2, [](int) {});
    work();
    std::signal(SIGUSR2, SIG_DFL);
  }
};

TEST(ContractPairs, ReportAHandlerThatASecondErrorLeavesUnderProcessState) {
  const Swept swept =
      sweep(world<LeavesHandlerAfterSecondError>(), throwing_in_pairs());
  EXPECT_THAT(swept.violated, ElementsAre("C7"));
  EXPECT_EQ(sweep(world<LeavesHandlerAfterSecondError>()).summary.exit_status(),
            0);
}

// An engine that works between the throw and the guard.
class LosesTheFirstError final : public FakeWorld {
  void on_hook(Run& run, Hook hook, Component component) override {
    if (hook != Hook::kOnTrainStart) {
      return;
    }
    try {
      run.call(Hook::kOnFitStart, component, [] {});
    } catch (...) {
      run.call(Hook::kOnFitEnd, component, [] {});
      throw;
    }
  }
};

TEST(ContractPairs, ReportASecondErrorInPlaceOfTheFirst) {
  Options options = throwing_in_pairs();
  options.points = {faultinject::NamePattern("hook/on_fit_start/*")};
  const Swept swept = sweep(world<LosesTheFirstError>(), options);
  EXPECT_THAT(swept.violated, ElementsAre("C2", "C3"));
  EXPECT_EQ(swept.summary.exit_status(), 3);
}

}  // namespace
}  // namespace mishap::testing
