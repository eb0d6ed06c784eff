#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "child_program.h"

namespace mishap::testing {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProcessExits : public ::testing::Test {
 protected:
  ChildProgram child_;
};

TEST_F(ProcessExits, InARunLeaveARecordAndAreNoSuccess) {
  const Ended ended = child_.run([] {
    guard("fit", [](mishap::Run& run) {
      run.on_teardown("owed", [] {});
      run.epoch(1);
      run.step(7);
      run.call(Hook::kTrainingStep, Component::named("model"),
               [] { std::exit(0); });
    });
    return 9;
  });
  EXPECT_EQ(ended.status, 1);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_EQ(record["kind"], "exit");
  EXPECT_EQ(record["entry_point"], "fit");
  EXPECT_EQ(record["hook"], "training_step");
  EXPECT_EQ(record["component"], "model");
  EXPECT_EQ(record["epoch"], 1);
  EXPECT_EQ(record["global_step"], 7);
  EXPECT_EQ(record["exit"]["status"], 1);
  EXPECT_EQ(record["process_phase"], "exiting");
  EXPECT_EQ(record["breadcrumbs"].size(), 3U);
  EXPECT_FALSE(record["reproduce"].is_null());
  EXPECT_THAT(
      cleanup_of(record),
      ElementsAre("teardown owed skipped", "restore_process_state - skipped"));
  ASSERT_EQ(ended.rows.size(), 1U);
  EXPECT_EQ(ended.rows[0]["run_id"], record["run_id"]);
  EXPECT_EQ(ended.rows[0]["outcome"], "failed");
  EXPECT_THAT(ended.standard_error, HasSubstr("exit     1\n"));
}

TEST_F(ProcessExits, KeepAStatusThatIsNoSuccess) {
  for (const int status : {3, 255}) {
    const Ended ended = child_.run([status] {
      guard("fit", [status](mishap::Run&) { std::exit(status); });
      return 9;
    });
    EXPECT_EQ(ended.status, status);
    EXPECT_EQ(ended.records.back()["exit"]["status"], status);
  }
}

TEST_F(ProcessExits, AreNoSuccessThoughOnlyTheLowBitsAreNone) {
  EXPECT_EQ(child_
                .run([] {
                  guard("fit", [](mishap::Run&) { std::exit(256); });
                  return 9;
                })
                .status,
            1);
}

TEST_F(ProcessExits, UnderGuardedMainAreTheSame) {
  const Ended ended = child_.run([] {
    return guarded_main(
        0, nullptr, [] { guard("fit", [](mishap::Run&) { std::exit(0); }); });
  });
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.records.size(), 1U);
}

TEST_F(ProcessExits, InOnExceptionLeaveTheFirstErrorOnRecord) {
  const Ended ended = child_.run([] {
    guard("fit", [](mishap::Run& run) {
      run.on_exception("exits", [](const ErrorEvent&) { std::exit(0); });
      run.on_exception("spy", [](const ErrorEvent&) {});
      throw std::runtime_error("x");
    });
    return 9;
  });
  EXPECT_EQ(ended.status, 1);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_EQ(record["kind"], "error");
  EXPECT_EQ(record["exceptions"][0]["message"], "x");
  EXPECT_FALSE(
      record["exceptions"][0]["stack"]["frames"][0]["in_app"].is_null());
  EXPECT_EQ(record["exit"]["status"], 1);
  EXPECT_THAT(cleanup_of(record),
              ElementsAre("tell exits failed", "tell spy skipped",
                          "restore_process_state - skipped"));
}

TEST_F(ProcessExits, InTeardownOfAGoodRunAreAtThatPlace) {
  const Ended ended = child_.run([] {
    guard("fit", [](mishap::Run& run) {
      run.on_teardown("exits", [] { std::exit(4); });
      run.on_teardown("done", [] {});
    });
    return 9;
  });
  EXPECT_EQ(ended.status, 4);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_EQ(record["kind"], "exit");
  EXPECT_EQ(record["stage"], "teardown");
  EXPECT_EQ(record["hook"], "teardown");
  EXPECT_EQ(record["component"], "exits");
  EXPECT_THAT(cleanup_of(record),
              ElementsAre("teardown done ran", "teardown exits failed",
                          "restore_process_state - skipped"));
}

TEST_F(ProcessExits, OnAnotherThreadLeaveARecordOfTheRun) {
  const Ended ended = child_.run([] {
    std::atomic<bool> is_there{false};
    std::thread([&] {
      while (!is_there) {
        std::this_thread::yield();
      }
      std::exit(0);
    }).detach();
    guard("fit", [&](mishap::Run& run) {
      for (int step = 0;; ++step) {
        run.step(step);
        is_there = step > 100;
      }
    });
    return 9;
  });
  EXPECT_EQ(ended.status, 1);
  ASSERT_EQ(ended.records.size(), 1U);
  const json& record = ended.records[0];
  EXPECT_EQ(record["kind"], "exit");
  EXPECT_EQ(record["hook"], "step");
  EXPECT_GT(record["global_step"], 100);
  EXPECT_EQ(record["thread"]["role"], "main");
}

TEST_F(ProcessExits, OnAnotherThreadOfACleanupTellWhatWasDone) {
  const Ended ended = child_.run([] {
    guard("fit", [](mishap::Run& run) {
      run.on_teardown("waits", [] {
        std::thread([] { std::exit(0); }).detach();
        while (true) {
          std::this_thread::sleep_for(std::chrono::hours(1));
        }
      });
      throw std::runtime_error("x");
    });
    return 9;
  });
  EXPECT_EQ(ended.status, 1);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["kind"], "error");
  EXPECT_THAT(
      cleanup_of(ended.records[0]),
      ElementsAre("teardown waits failed", "restore_process_state - skipped"));
}

TEST_F(ProcessExits, OfNestedRunsLeaveOneRecordEach) {
  const Ended ended = child_.run([] {
    guard("fit", [](mishap::Run& outer) {
      outer.step(2);
      guard("validate", [](mishap::Run&) { std::exit(0); });
    });
    return 9;
  });
  EXPECT_EQ(ended.status, 1);
  ASSERT_EQ(ended.records.size(), 2U);
  EXPECT_EQ(ended.records[0]["entry_point"], "validate");
  EXPECT_EQ(ended.records[0]["parent_run_id"], ended.records[1]["run_id"]);
  EXPECT_EQ(ended.records[1]["entry_point"], "fit");
  EXPECT_EQ(ended.records[1]["global_step"], 2);
  EXPECT_EQ(ended.records[1]["inner_record_id"], ended.records[0]["record_id"]);
}

TEST_F(ProcessExits, AfterARunAreNotOurs) {
  const Ended ended = child_.run([] {
    guard("fit", [](mishap::Run&) {});
    try {
      guard("fit", [](mishap::Run&) { throw std::runtime_error("x"); });
    } catch (const std::runtime_error&) {
    }
    std::thread([] {
      guard("fit", [](mishap::Run&) { pthread_exit(nullptr); });
    }).join();
    return 0;
  });
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.records.size(), 1U);
}

TEST_F(ProcessExits, LeaveNothingPending) {
  const auto exits = [] {
    guard("fit", [](mishap::Run&) { std::exit(0); });
    return 9;
  };
  child_.run(exits);
  // The next run of the folder appends what was pending.
  EXPECT_EQ(child_.run(exits).records.size(), 2U);
}

TEST_F(ProcessExits, OfARunThatWritesNothingAreNoSuccessEither) {
  const Ended ended = child_.run([] {
    HarnessOptions options;
    options.capture.writes = false;
    guard(
        "fit", [](mishap::Run&) { std::exit(0); }, options);
    return 9;
  });
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.records.size(), 0U);
}

TEST_F(ProcessExits, InAForkedChildAreNotThoseOfItsParentsRun) {
  const Ended ended = child_.run([] {
    int status = -1;
    guard("fit", [&](mishap::Run&) {
      const pid_t child = fork();
      if (child == 0) {
        std::exit(0);
      }
      waitpid(child, &status, 0);
    });
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 9;
  });
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.records.size(), 0U);
}

TEST_F(ProcessExits, OfARunInAForkedChildLeaveItsRecordAlone) {
  const Ended ended = child_.run([] {
    int status = -1;
    guard("fit", [&](mishap::Run&) {
      const pid_t child = fork();
      if (child == 0) {
        guard("validate", [](mishap::Run&) { std::exit(0); });
      }
      waitpid(child, &status, 0);
    });
    return WEXITSTATUS(status);
  });
  EXPECT_EQ(ended.status, 1);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["entry_point"], "validate");
}

// The file tells which handlers ran.
std::string* marks = nullptr;
void mark(const char* text) { std::ofstream(*marks, std::ios::app) << text; }

TEST_F(ProcessExits, LetTheProgramsOwnHandlersRunOnceEach) {
  std::string file = child_.file("marks");
  marks = &file;
  const Ended ended = child_.run([] {
    std::atexit([] { mark("before "); });
    guard("fit", [](mishap::Run&) {
      std::atexit([] { mark("after "); });
      std::exit(0);
    });
    return 9;
  });
  EXPECT_EQ(ended.status, 1);
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            "after before ");
}

}  // namespace
}  // namespace mishap::testing
