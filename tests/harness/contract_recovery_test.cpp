#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/fault_point.h>

#include <csignal>
#include <stdexcept>

#include "fake_world.h"
#include "swept.h"

namespace mishap::testing {
namespace {

using faultinject::sweep::Options;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Loads in on_train_start and tries once more when that fails.
class Retries : public FakeWorld {
 protected:
  virtual void on_retry() {}

 private:
  void on_hook(Run&, Hook hook, Component component) override {
    if (hook != Hook::kOnTrainStart || component != components().front()) {
      return;
    }
    try {
      MISHAP_RECOVERABLE_FAULT_POINT("contract_recovery/load");
    } catch (const std::runtime_error&) {
      on_retry();
      MISHAP_RECOVERABLE_FAULT_POINT("contract_recovery/load_again");
    }
  }
};

Options at_load(bool pairs = false) {
  Options options;
  options.points = {faultinject::NamePattern("user/contract_recovery/load")};
  options.actions = {"throw(system)"};
  options.pairs = pairs;
  return options;
}

TEST(ContractRecovery, OfARunThatKeepsEveryPromiseIsNoFinding) {
  const Swept swept = sweep(world<Retries>(), at_load());
  EXPECT_EQ(swept.summary.tally[Outcome::kRecovered], 1U);
  EXPECT_THAT(swept.violated, IsEmpty()) << swept.note;
  EXPECT_THAT(swept.records, IsEmpty());
  for (const auto& clause : swept.summary.clauses) {
    EXPECT_EQ(clause.checked, 1U) << clause.name;
  }
}

TEST(ContractRecovery, IsNotHadFromAnErrorThatIsNotCaught) {
  Options options = at_load();
  options.actions = {"throw(int)"};
  EXPECT_EQ(sweep(world<Retries>(), options).summary.tally[Outcome::kHeld], 1U);
}

class LeavesHandlerOnRetry final : public Retries {
 public:
  ~LeavesHandlerOnRetry() override { std::signal(SIGUSR2, SIG_DFL); }

 private:
  void on_retry() override {
    std::signal(SIGUSR2, [](int) {});
  }
};

TEST(ContractRecovery, DoesNotExcuseABrokenClause) {
  const Swept swept = sweep(world<LeavesHandlerOnRetry>(), at_load());
  EXPECT_EQ(swept.summary.tally[Outcome::kViolated], 1U);
  EXPECT_THAT(swept.violated, ElementsAre("C7"));
}

class SwallowsInterrupts final : public Retries {
 public:
  void call(std::string_view entry_point,
            const HarnessOptions& options) override {
    try {
      Retries::call(entry_point, options);
    } catch (const Interrupted&) {
    }
  }
};

TEST(ContractRecovery, DoesNotExcuseASwallowedInterrupt) {
  Options options = at_load();
  options.actions = {"interrupt(SIGTERM)"};
  EXPECT_EQ(sweep(world<Retries>(), options).summary.tally[Outcome::kHeld], 1U);
  const Swept swept = sweep(world<SwallowsInterrupts>(), options);
  EXPECT_EQ(swept.summary.tally[Outcome::kViolated], 1U);
  EXPECT_TRUE(swept.violated.contains("C12"));
}

TEST(ContractRecovery, FromTheFirstOfTwoFaultsLeavesTheSecondToBeJudged) {
  const Swept swept = sweep(world<Retries>(), at_load(true));
  // The second try fails too, or a hook later in the run does.
  EXPECT_GT(swept.summary.cases, 20U);
  EXPECT_EQ(swept.summary.tally[Outcome::kHeld], swept.summary.cases)
      << swept.note;
}

// An engine that goes on when a save fails.
class SavesIfItCan final : public FakeWorld {
  void on_hook(Run& run, Hook hook, Component component) override {
    if (hook != Hook::kOnTrainStart) {
      return;
    }
    try {
      run.call(Hook::kSave, component, [] {});
    } catch (const std::runtime_error&) {
    }
  }
};

TEST(ContractRecovery, AtAHookMakesThePlaceOfTheSecondFaultTheRuns) {
  Options options;
  options.points = {faultinject::NamePattern("hook/save/callback.First")};
  options.recovers = {faultinject::NamePattern("hook/save/**")};
  options.pairs = true;
  const Swept swept = sweep(world<SavesIfItCan>(), options);
  EXPECT_THAT(swept.violated, IsEmpty()) << swept.note;
  // Two faults of saves are both recovered from.
  EXPECT_GT(swept.summary.tally[Outcome::kRecovered], 0U);
  EXPECT_GT(swept.summary.tally[Outcome::kHeld], 20U);
  EXPECT_EQ(swept.summary.exit_status(), 0);

  options.recovers.clear();
  EXPECT_EQ(
      sweep(world<SavesIfItCan>(), options).summary.tally[Outcome::kSwallowed],
      swept.summary.cases);
}

}  // namespace
}  // namespace mishap::testing
