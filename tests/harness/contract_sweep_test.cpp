#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ostream>
#include <set>
#include <thread>

#include "fake_world.h"
#include "swept.h"

namespace mishap::testing {
namespace {

StepList without(std::string_view name) {
  StepList steps = standard_steps();
  std::erase_if(steps,
                [&](const GuardStep& step) { return step.name == name; });
  return steps;
}

TEST(ContractSweep, HoldsAtEveryHitOfTheStandardGuard) {
  const Swept swept = sweep(world());
  EXPECT_EQ(swept.summary.exit_status(), 0);
  EXPECT_THAT(swept.violated, ::testing::IsEmpty()) << swept.note;
  EXPECT_EQ(swept.summary.cases, swept.summary.hits * 4);
  EXPECT_EQ(swept.summary.tally.records, swept.summary.cases);
  EXPECT_GT(swept.summary.hits, 30U);
}

TEST(ContractSweep, ChecksEveryClauseInEveryCaseThatItAppliesTo) {
  const Swept swept = sweep(world());
  for (const auto& clause : swept.summary.clauses) {
    const std::uint64_t due =
        clause.name == "C12" ? swept.summary.hits : swept.summary.cases;
    EXPECT_EQ(clause.checked, due) << clause.name;
  }
}

struct LeftOut {
  const char* step;
  std::set<std::string> clauses;

  friend void PrintTo(const LeftOut& left_out, std::ostream* out) {
    *out << left_out.step;
  }
};

class GuardWithoutStep : public ::testing::TestWithParam<LeftOut> {};

TEST_P(GuardWithoutStep, IsCaughtByItsClause) {
  const StepList steps = without(GetParam().step);
  ASSERT_EQ(steps.size() + 1, standard_steps().size());
  const Swept swept = sweep(world(), all_kinds(), steps);
  EXPECT_EQ(swept.violated, GetParam().clauses);
  EXPECT_EQ(swept.summary.exit_status(), 3);
}

INSTANTIATE_TEST_SUITE_P(
    EachStep, GuardWithoutStep,
    ::testing::Values(LeftOut{"freeze", {"C2"}}, LeftOut{"tell", {"C3"}},
                      LeftOut{"teardown", {"C4"}}, LeftOut{"finalize", {"C6"}},
                      LeftOut{"append_record", {"C2"}},
                      LeftOut{"rethrow", {"C1", "C12"}}),
    [](const auto& tested) {
      std::string name = tested.param.step;
      name.erase(std::remove(name.begin(), name.end(), '_'), name.end());
      return name;
    });

class LeaksThread final : public FakeWorld {
 public:
  ~LeaksThread() override {
    stop_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

 private:
  void on_hook(Run& run, Hook hook, Component) override {
    if (hook == Hook::kTeardown && run.failure() != nullptr) {
      threads_.emplace_back([this] {
        while (!stop_) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
    }
  }

  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

TEST(ContractSweep, ReportsALeakedThreadUnderResources) {
  const Swept swept = sweep(world<LeaksThread>());
  EXPECT_THAT(swept.violated, ::testing::ElementsAre("C9"));
}

// All pairs of a real task leave more than the file of a program may hold.
TEST(ContractSweep, IsNotBoundByTheSizeOfAFile) {
  HarnessOptions harness;
  harness.capture.max_file_bytes = 1;
  const Swept swept = sweep(world(), all_kinds(), standard_steps(), harness);
  EXPECT_EQ(swept.summary.tally[Outcome::kHeld], swept.summary.cases);
  EXPECT_EQ(swept.records.size(), swept.summary.cases);
}

class LeavesHandler final : public FakeWorld {
  void on_hook(Run&, Hook hook, Component) override {
    if (hook == Hook::kTeardown) {
      std::signal(SIGUSR2, [](int) {});
    }
  }

 public:
  ~LeavesHandler() override { std::signal(SIGUSR2, SIG_DFL); }
};

TEST(ContractSweep, ReportsAHandlerLeftInstalledUnderProcessState) {
  const Swept swept = sweep(world<LeavesHandler>());
  EXPECT_THAT(swept.violated, ::testing::ElementsAre("C7"));
}

class SwallowsErrors final : public FakeWorld {
 public:
  void call(std::string_view entry_point,
            const HarnessOptions& options) override {
    try {
      FakeWorld::call(entry_point, options);
    } catch (...) {
    }
  }
};

TEST(ContractSweep, ReportsASwallowedErrorUnderSameError) {
  const Swept swept = sweep(world<SwallowsErrors>());
  EXPECT_EQ(swept.summary.tally[Outcome::kSwallowed], swept.summary.cases);
  EXPECT_THAT(swept.violated, ::testing::ElementsAre("C1", "C12"));
}

}  // namespace
}  // namespace mishap::testing
