#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "child_program.h"

namespace mishap::testing {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

HarnessOptions with_limit(milliseconds limit = milliseconds(20)) {
  HarnessOptions options;
  options.guard.cleanup_limit = limit;
  return options;
}

void for_ever() {
  while (true) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

int guarded(const std::function<void()>& work) {
  return guarded_main(0, nullptr, work);
}

class Overtimes : public ::testing::Test {
 protected:
  ChildProgram child_;
};

TEST_F(Overtimes, UnderGuardedMainEndsTheProcessWithTheFirstErrorOnRecord) {
  const Ended ended = child_.run([] {
    return guarded([] {
      guard(
          "fit",
          [](mishap::Run& run) {
            run.on_teardown("first", [] {});
            run.on_teardown("slow", for_ever);
            run.on_teardown("quick", [] { throw std::logic_error("second"); });
            run.step(7);
            throw std::runtime_error("x");
          },
          with_limit());
    });
  });
  EXPECT_EQ(ended.status, 124);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_EQ(record["kind"], "error");
  EXPECT_EQ(record["exceptions"][0]["message"], "x");
  EXPECT_EQ(record["global_step"], 7);
  EXPECT_EQ(record["exit"]["status"], 124);
  EXPECT_EQ(record["process_phase"], "running");
  EXPECT_THAT(
      cleanup_of(record),
      ElementsAre("teardown quick failed", "teardown slow timed_out",
                  "teardown first skipped", "restore_process_state - skipped"));
  EXPECT_EQ(record["cleanup"][0]["error"], "std::logic_error: second");
  EXPECT_GE(record["cleanup"][1]["micros"], 20'000);
  EXPECT_EQ(record["suppressed"][0]["message"], "second");
  ASSERT_GE(record["threads"].size(), 2U);
  EXPECT_EQ(record["threads"][0]["id"], record["thread"]["id"]);
  EXPECT_EQ(record["threads"][0]["stack"]["origin"], "watchdog");
  EXPECT_FALSE(record["threads"][0]["stack"]["frames"].empty());
  ASSERT_EQ(ended.rows.size(), 1U);
  EXPECT_EQ(ended.rows[0]["outcome"], "failed");
  EXPECT_THAT(ended.standard_error,
              HasSubstr("late     cleanup step teardown of slow, "));
  EXPECT_THAT(ended.standard_error, HasSubstr("exit     124\n"));
  EXPECT_THAT(ended.standard_error, Not(HasSubstr("the wait goes on")));
}

TEST_F(Overtimes, OfAGoodRunAreAHangAtTheirPlace) {
  const Ended ended = child_.run([] {
    return guarded([] {
      guard(
          "fit", [](mishap::Run& run) { run.on_teardown("slow", for_ever); },
          with_limit());
    });
  });
  EXPECT_EQ(ended.status, 124);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_EQ(record["kind"], "hang");
  EXPECT_EQ(record["entry_point"], "fit");
  EXPECT_EQ(record["stage"], "teardown");
  EXPECT_EQ(record["hook"], "teardown");
  EXPECT_EQ(record["component"], "slow");
  EXPECT_EQ(record["thread"]["role"], "main");
  EXPECT_THAT(cleanup_of(record),
              ElementsAre("teardown slow timed_out",
                          "restore_process_state - skipped"));
  EXPECT_EQ(ended.rows[0]["outcome"], "hung");
}

TEST_F(Overtimes, LeaveNothingPending) {
  const auto hang = [] {
    return guarded([] {
      guard(
          "fit", [](mishap::Run& run) { run.on_teardown("slow", for_ever); },
          with_limit());
    });
  };
  child_.run(hang);
  // The next run of the folder appends what was pending.
  EXPECT_EQ(child_.run(hang).records.size(), 2U);
}

TEST_F(Overtimes, LeaveARecordOfTheOuterRunToo) {
  const Ended ended = child_.run([] {
    return guarded([] {
      guard("fit", [](mishap::Run& outer) {
        outer.step(3);
        guard(
            "validate",
            [](mishap::Run& run) { run.on_teardown("slow", for_ever); },
            with_limit());
      });
    });
  });
  EXPECT_EQ(ended.status, 124);
  ASSERT_EQ(ended.records.size(), 2U);
  EXPECT_EQ(ended.records[0]["kind"], "hang");
  EXPECT_EQ(ended.records[0]["entry_point"], "validate");
  EXPECT_EQ(ended.records[1]["kind"], "exit");
  EXPECT_EQ(ended.records[1]["entry_point"], "fit");
  EXPECT_EQ(ended.records[1]["exit"]["status"], 124);
  EXPECT_EQ(ended.records[1]["global_step"], 3);
  EXPECT_EQ(ended.records[1]["inner_record_id"], ended.records[0]["record_id"]);
}

TEST_F(Overtimes, ElsewhereAreWarnedOfAndWaitedFor) {
  const Ended ended = child_.run([] {
    try {
      guard(
          "fit",
          [](mishap::Run& run) {
            run.on_teardown(
                "slow", [] { std::this_thread::sleep_for(milliseconds(80)); });
            throw std::runtime_error("x");
          },
          with_limit());
    } catch (const std::runtime_error&) {
      return 5;
    }
    return 6;
  });
  EXPECT_EQ(ended.status, 5);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_THAT(
      cleanup_of(ended.records[0]),
      ElementsAre("teardown slow timed_out", "restore_process_state - ran"));
  EXPECT_FALSE(ended.records[0]["threads"].empty());
  EXPECT_FALSE(ended.records[0]["threads"][0]["stack"]["frames"].empty());
  EXPECT_TRUE(ended.records[0]["exit"]["status"].is_null());
  EXPECT_THAT(ended.standard_error,
              HasSubstr("mishap: fit: cleanup step teardown of slow has run"));
}

TEST_F(Overtimes, AreToldToAnEmbedderInPlaceOfTheWarning) {
  const Ended ended = child_.run([] {
    std::atomic<int> told{0};
    HarnessOptions options = with_limit();
    options.guard.on_overtime = [&](const Overtime&) { ++told; };
    guard(
        "fit",
        [&](mishap::Run& run) {
          run.on_teardown("slow", [&] {
            while (told == 0) {
              std::this_thread::sleep_for(milliseconds(1));
            }
          });
        },
        options);
    return told.load();
  });
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.standard_error, "");
}

TEST_F(Overtimes, WithNobodyToTellAreNotedAtTheirEnd) {
  const Ended ended = child_.run([] {
    return guarded([] {
      HarnessOptions options = with_limit();
      options.guard.on_overtime = nullptr;
      guard(
          "fit",
          [](mishap::Run& run) {
            run.on_teardown(
                "slow", [] { std::this_thread::sleep_for(milliseconds(50)); });
            throw std::runtime_error("x");
          },
          options);
    });
  });
  EXPECT_EQ(ended.status, 1);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_THAT(cleanup_of(ended.records[0]),
              ::testing::Contains("teardown slow timed_out"));
}

TEST_F(Overtimes, AreNoneWithinTheLimit) {
  const Ended ended = child_.run([] {
    return guarded([] {
      guard(
          "fit",
          [](mishap::Run& run) {
            run.on_teardown(
                "slow", [] { std::this_thread::sleep_for(milliseconds(50)); });
          },
          with_limit(std::chrono::seconds(20)));
    });
  });
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.records.size(), 0U);
}

TEST_F(Overtimes, OfManyPiecesAreOnRecordAndTheLossIsSaid) {
  const Ended ended = child_.run([] {
    return guarded([] {
      guard(
          "fit",
          [](mishap::Run& run) {
            run.on_teardown("last", for_ever);
            for (int i = 0; i < 100; ++i) {
              run.on_teardown("piece", [] {});
            }
            throw std::runtime_error("x");
          },
          with_limit());
    });
  });
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_THAT(cleanup_of(record),
              ::testing::Contains("teardown last timed_out"));
  EXPECT_EQ(record["cleanup"].size(), 64U);
  bool is_said = false;
  for (const json& loss : record["truncated"]) {
    is_said |=
        loss["key"] == "/cleanup" && loss["kept"] == 64 && loss["total"] == 102;
  }
  EXPECT_TRUE(is_said) << record["truncated"];
}

}  // namespace
}  // namespace mishap::testing
