#include <gtest/gtest.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <mishap/trainer/harness/contract/checkers.h>
#include <mishap/trainer/harness/contract/record_watch.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "../temp_folder.h"
#include "fake_world.h"

namespace mishap::testing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLimit{20};

// Sleeps in the teardown of a callback, and measures that.
class SlowWorld final : public FakeWorld {
 public:
  explicit SlowWorld(milliseconds sleep) : sleep_(sleep) {}

 private:
  void on_hook(Run&, Hook hook, Component component) override {
    if (hook == Hook::kOnTrainEnd) {
      throw std::runtime_error("x");
    }
    if (hook != Hook::kTeardown || component != components()[0]) {
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(sleep_);
    journal().note_took(component, hook,
                        std::chrono::steady_clock::now() - start);
  }

  milliseconds sleep_;
};

class BoundedChecks : public ::testing::Test {
 protected:
  // What the checker says of one failed call, after `change` of what is seen.
  bool breaks(milliseconds sleep, milliseconds guard_limit,
              const std::function<void(RecordSeen&)>& change = {},
              bool tells_overtime = false) {
    const TempFolder folder;
    HarnessOptions options;
    options.capture.records = folder.path();
    options.capture.report_on_stderr = false;
    options.guard.cleanup_limit = guard_limit;
    options.guard.on_overtime = nullptr;
    if (tells_overtime) {
      options.guard.on_overtime = [](const Overtime&) {};
    }
    RecordWatch watch(folder.path() + "/records.jsonl");
    SlowWorld world(sleep);
    const auto checker = check_bounded(kLimit);
    Observation seen;
    checker->before();
    try {
      world.call("fit", options);
    } catch (...) {
      seen.caught = std::current_exception();
    }
    checker->after();
    std::vector<RecordSeen> records = watch.read_new();
    EXPECT_EQ(records.size(), 1U);
    EXPECT_FALSE(records.at(0).cleanup.empty());
    if (change) {
      change(records.at(0));
    }
    seen.records = records;
    seen.journal = world.journal().entries();
    EXPECT_TRUE(checker->applies(seen));
    return checker->judge(seen).has_value();
  }
};

TEST_F(BoundedChecks, AreContentWhenWhatIsLateIsSaidToBe) {
  EXPECT_FALSE(breaks(2 * kLimit, kLimit));
}

TEST_F(BoundedChecks, AreContentWhenNothingIsLate) {
  EXPECT_FALSE(breaks(milliseconds(0), kLimit));
}

TEST_F(BoundedChecks, AreContentWithTheThreadsOfALongOvertime) {
  EXPECT_FALSE(breaks(milliseconds(700), kLimit, {}, true));
}

// The twin: nobody is told while the piece runs, so nobody looks at the
// threads.
TEST_F(BoundedChecks, NoticeALongOvertimeWithoutTheThreads) {
  EXPECT_TRUE(breaks(milliseconds(700), kLimit));
}

TEST_F(BoundedChecks, NoticeALimitThatIsNotKept) {
  EXPECT_TRUE(breaks(2 * kLimit, milliseconds(0)));
}

TEST_F(BoundedChecks, NoticeThatTheNoteIsLeftOut) {
  EXPECT_TRUE(breaks(2 * kLimit, kLimit, [](RecordSeen& record) {
    std::erase_if(record.cleanup, [](const CleanupSeen& piece) {
      return piece.outcome == "timed_out";
    });
  }));
}

TEST_F(BoundedChecks, NoticeThatAQuickPieceIsSaidToBeLate) {
  EXPECT_TRUE(breaks(milliseconds(0), kLimit, [](RecordSeen& record) {
    record.cleanup.front().outcome = "timed_out";
  }));
}

TEST_F(BoundedChecks, NoticeThatAQuickPieceBesideALateOneIsSaidToBeLate) {
  EXPECT_TRUE(breaks(2 * kLimit, kLimit, [](RecordSeen& record) {
    record.cleanup.back().outcome = "timed_out";
  }));
}

TEST_F(BoundedChecks, SayNothingWithoutALimit) {
  RecordSeen record;
  const std::vector<RecordSeen> records = {record};
  Observation seen;
  seen.records = records;
  EXPECT_FALSE(check_bounded(milliseconds(0))->applies(seen));
}

}  // namespace
}  // namespace mishap::testing
