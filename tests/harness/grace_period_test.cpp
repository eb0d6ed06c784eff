#include <signal.h>
#include <unistd.h>

#include <stdexcept>

#include "hang_support.h"

namespace mishap::testing {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::HasSubstr;

class GracePeriods : public ::testing::Test {
 protected:
  ChildProgram child_;
};

TEST_F(GracePeriods, ThatAreOverEndTheProgramWithTheStacksOnRecord) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      guard(
          "fit",
          [](mishap::Run& run) {
            hang_in_training(run, [] {
              raise(SIGTERM);
              sample::hangs_here();
            });
          },
          with_grace(kAfter));
    });
  });
  EXPECT_EQ(ended.status, 128 + SIGTERM);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_EQ(record["kind"], "hang");
  EXPECT_EQ(record["hook"], "training_step");
  EXPECT_EQ(record["global_step"], 3);
  EXPECT_EQ(record["interrupt"]["signal"], "SIGTERM");
  EXPECT_EQ(record["interrupt"]["at"]["hook"], "training_step");
  EXPECT_TRUE(record["interrupt"]["honoured"]["entry_point"].is_null());
  EXPECT_GE(record["interrupt"]["delay_micros"], 200'000);
  EXPECT_EQ(record["exit"]["status"], 128 + SIGTERM);
  EXPECT_THAT(functions_of(record["threads"][0]),
              Contains(HasSubstr("hangs_here")));
  EXPECT_THAT(ended.standard_error, HasSubstr("hangs: SIGTERM came"));
  ASSERT_EQ(ended.rows.size(), 1U);
  EXPECT_EQ(ended.rows[0]["outcome"], "hung");
}

TEST_F(GracePeriods, AreOverOnAnotherThreadThanMain) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      std::thread([] {
        guard(
            "fit",
            [](mishap::Run& run) {
              // In the hook: at its beginning there is a safe point.
              hang_in_training(run, [] {
                kill(getpid(), SIGINT);
                sample::hangs_here();
              });
            },
            with_grace(kAfter));
      }).join();
    });
  });
  EXPECT_EQ(ended.status, 128 + SIGINT);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["thread"]["role"], "caller");
  EXPECT_EQ(ended.records[0]["threads"][0]["id"],
            ended.records[0]["thread"]["id"]);
}

TEST_F(GracePeriods, ElsewhereAreRecordedAndWaitedFor) {
  const Ended ended = child_.run([] {
    try {
      guard(
          "fit",
          [](mishap::Run& run) {
            hang_in_training(run, [] {
              raise(SIGINT);
              const auto end = std::chrono::steady_clock::now() + 4 * kAfter;
              std::this_thread::sleep_until(end);
            });
          },
          with_grace(kAfter));
    } catch (const Interrupted&) {
      return 9;
    }
    return 0;
  });
  EXPECT_EQ(ended.status, 9);
  ASSERT_EQ(ended.records.size(), 2U);
  EXPECT_EQ(ended.records[0]["kind"], "hang");
  EXPECT_EQ(ended.records[1]["kind"], "interrupt");
  EXPECT_THAT(ended.standard_error, HasSubstr("the wait goes on"));
}

TEST_F(GracePeriods, OfASignalThatIsHonouredEndNothing) {
  const Ended ended = child_.run([] {
    try {
      guard(
          "fit",
          [](mishap::Run& run) {
            raise(SIGINT);
            run.step(0);
          },
          with_grace(kAfter));
    } catch (const Interrupted&) {
      std::this_thread::sleep_for(2 * kAfter);
      return 9;
    }
    return 0;
  });
  EXPECT_EQ(ended.status, 9);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["kind"], "interrupt");
}

TEST_F(GracePeriods, InACleanupKeepTheFirstError) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      guard(
          "fit",
          [](mishap::Run& run) {
            run.on_teardown("slow", [] {
              raise(SIGTERM);
              sample::hangs_here();
            });
            throw std::runtime_error("x");
          },
          with_grace(kAfter));
    });
  });
  EXPECT_EQ(ended.status, 128 + SIGTERM);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["kind"], "error");
  EXPECT_EQ(ended.records[0]["exceptions"][0]["message"], "x");
  EXPECT_THAT(functions_of(ended.records[0]["threads"][0]),
              Contains(HasSubstr("hangs_here")));
}

TEST_F(GracePeriods, LeaveARecordOfTheOuterRunToo) {
  const Ended ended = child_.run([] {
    return run_guarded([] {
      guard(
          "fit",
          [](mishap::Run&) {
            guard(
                "validate",
                [](mishap::Run&) {
                  raise(SIGTERM);
                  sample::hangs_here();
                },
                with_grace(kAfter));
          },
          with_grace(kAfter));
    });
  });
  EXPECT_EQ(ended.status, 128 + SIGTERM);
  ASSERT_EQ(ended.records.size(), 2U);
  EXPECT_EQ(ended.records[0]["kind"], "hang");
  EXPECT_EQ(ended.records[0]["entry_point"], "validate");
  EXPECT_EQ(ended.records[1]["kind"], "exit");
  EXPECT_EQ(ended.records[1]["inner_record_id"], ended.records[0]["record_id"]);
}

TEST_F(GracePeriods, OfNoneAreNeverOver) {
  const Ended ended = child_.run([] {
    try {
      guard(
          "fit",
          [](mishap::Run& run) {
            raise(SIGINT);
            const auto end = std::chrono::steady_clock::now() + 2 * kAfter;
            std::this_thread::sleep_until(end);
            run.step(0);
          },
          with_grace(milliseconds(0)));
    } catch (const Interrupted&) {
      return 9;
    }
    return 0;
  });
  EXPECT_EQ(ended.status, 9);
  EXPECT_EQ(ended.records.size(), 1U);
}

}  // namespace
}  // namespace mishap::testing
