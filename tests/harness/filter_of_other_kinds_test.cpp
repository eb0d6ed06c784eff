// The user's filter and the records that no error makes: killed, hang, crash.
#include <mishap/collector/recover_pending.h>
#include <mishap/collector/sink.h>
#include <signal.h>

#include <csignal>
#include <exception>
#include <set>
#include <stdexcept>
#include <string>

#include "hang_support.h"

namespace mishap {
namespace {

using nlohmann::json;
using testing::ChildProgram;
using testing::Ended;
using testing::hang_in_training;
using testing::hanging_after;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::run_guarded;

constexpr std::string_view kPatient = "patient 12";

class FilterOfOtherKinds : public ::testing::Test {
 protected:
  // What dead processes left in slots, appended.
  std::vector<json> recovered() const {
    collector::SinkOptions options;
    options.folder = child_.file("records");
    collector::RecordSink sink(std::move(options));
    collector::recover_pending(sink);
    return child_.run([] { return 0; }).records;
  }

  ChildProgram child_;
};

// The filter marks what it saw by the rank, and leaves the command out.
FilterVerdict mark_by_rank(collector::Record& record) {
  record.rank = 4711;
  record.reproduce = {};
  return FilterVerdict::kKeep;
}

HarnessOptions filtered(RecordFilter filter, HarnessOptions options = {}) {
  options.capture.filter = std::move(filter);
  return options;
}

void default_handlers() {
  for (const int signal : {SIGSEGV, SIGABRT}) {
    std::signal(signal, SIG_DFL);
  }
}

int fit(const HarnessOptions& options,
        const std::function<void(mishap::Run&)>& body) {
  return run_guarded([&] { guard("fit", body, options); });
}

int die_in_fit(const HarnessOptions& options) {
  return fit(options, [](mishap::Run& run) {
    run.step(3);
    raise(SIGKILL);
  });
}

TEST_F(FilterOfOtherKinds, ARecordOfAKillWasSeenWhenTheRunBegan) {
  const Ended ended =
      child_.run([] { return die_in_fit(filtered(mark_by_rank)); });
  EXPECT_EQ(ended.status, 128 + SIGKILL);
  const std::vector<json> records = recovered();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]["kind"], "killed");
  EXPECT_EQ(records[0]["rank"], 4711);
  EXPECT_EQ(records[0]["global_step"], 3);
}

TEST_F(FilterOfOtherKinds, ADroppedKillLeavesNothing) {
  child_.run([] {
    return die_in_fit(filtered([](collector::Record& record) {
      return record.kind == collector::RecordKind::kKilled
                 ? FilterVerdict::kDrop
                 : FilterVerdict::kKeep;
    }));
  });
  EXPECT_THAT(recovered(), IsEmpty());
}

TEST_F(FilterOfOtherKinds, WhatStandsByForAKillIsNoOtherRecord) {
  const Ended ended = child_.run([] {
    return fit(filtered([](collector::Record& record) {
                 if (record.kind == collector::RecordKind::kKilled) {
                   record.rank = 4711;
                 }
                 return FilterVerdict::kKeep;
               }),
               [](mishap::Run&) { throw std::runtime_error("wrong"); });
  });
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_NE(ended.records[0]["rank"], 4711);
}

TEST_F(FilterOfOtherKinds, AHangIsSeenOnTheWatchdogsThread) {
  const Ended ended = child_.run([] {
    return fit(filtered(mark_by_rank, hanging_after()), [](mishap::Run& run) {
      hang_in_training(run, sample::hangs_here);
    });
  });
  EXPECT_EQ(ended.status, 124);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["kind"], "hang");
  EXPECT_EQ(ended.records[0]["rank"], 4711);
  EXPECT_TRUE(ended.records[0]["reproduce"].is_null());
  EXPECT_FALSE(ended.records[0]["threads"].empty());
}

TEST_F(FilterOfOtherKinds, ADroppedHangEndsTheProcessAllTheSame) {
  const Ended ended = child_.run([] {
    return fit(
        filtered([](collector::Record&) { return FilterVerdict::kDrop; },
                 hanging_after()),
        [](mishap::Run& run) { hang_in_training(run, sample::hangs_here); });
  });
  EXPECT_EQ(ended.status, 124);
  EXPECT_THAT(ended.records, IsEmpty());
  EXPECT_THAT(ended.rows, IsEmpty());
  EXPECT_THAT(ended.standard_error, HasSubstr("was dropped by the filter"));
  EXPECT_THAT(recovered(), IsEmpty());
}

TEST_F(FilterOfOtherKinds, AHangWhoseFilterThrowsKeepsItsStacks) {
  const Ended ended = child_.run([] {
    return fit(
        filtered(
            [](collector::Record& record) -> FilterVerdict {
              if (record.kind == collector::RecordKind::kHang) {
                throw std::logic_error("the filter is wrong");
              }
              return FilterVerdict::kKeep;
            },
            hanging_after()),
        [](mishap::Run& run) { hang_in_training(run, sample::hangs_here); });
  });
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_TRUE(ended.records[0]["reproduce"].is_null());
  EXPECT_FALSE(ended.records[0]["threads"].empty());
  EXPECT_THAT(ended.records[0]["notes"].dump(),
              HasSubstr("the filter of the user threw"));
}

// The last resort of the watchdog ends the process.
TEST_F(FilterOfOtherKinds, AHangWhoseFilterHangsIsLeftWithoutItsTexts) {
  const Ended ended = child_.run([] {
    return fit(
        filtered(
            [](collector::Record& record) {
              if (record.kind == collector::RecordKind::kHang) {
                sample::hangs_here();
              }
              return FilterVerdict::kKeep;
            },
            hanging_after()),
        [](mishap::Run& run) { hang_in_training(run, sample::hangs_here); });
  });
  EXPECT_EQ(ended.status, 124);
  EXPECT_THAT(ended.records, IsEmpty());
  const std::vector<json> records = recovered();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]["kind"], "hang");
  EXPECT_EQ(records[0]["hook"], "training_step");
  EXPECT_TRUE(records[0]["reproduce"].is_null());
  EXPECT_FALSE(records[0]["threads"].empty());
}

TEST_F(FilterOfOtherKinds, ARunThatHungAndIsKilledLaterLeavesBoth) {
  HarnessOptions options = filtered(mark_by_rank, hanging_after());
  options.hang.then = OnHang::kWarn;
  child_.run([&] {
    return fit(options, [](mishap::Run& run) {
      run.call(Hook::kTrainingStep, Component::named("module"),
               [] { std::this_thread::sleep_for(testing::kAfter * 4); });
      raise(SIGKILL);
    });
  });
  const std::vector<json> records = recovered();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0]["kind"], "hang");
  EXPECT_EQ(records[1]["kind"], "killed");
  EXPECT_EQ(records[1]["rank"], 4711);
}

TEST_F(FilterOfOtherKinds, TerminateIsNoSignalHandler) {
  const Ended ended = child_.run([] {
    default_handlers();
    return fit(filtered([](collector::Record& record) {
                 static collector::RecordException changed;
                 if (!record.exceptions.empty()) {
                   changed = record.exceptions.front();
                   changed.message = "taken out";
                   record.exceptions = {&changed, 1};
                 }
                 return FilterVerdict::kKeep;
               }),
               [](mishap::Run&) {
                 std::thread([] {
                   throw std::runtime_error(std::string(kPatient));
                 }).join();
               });
  });
  EXPECT_EQ(ended.status, 128 + SIGABRT);
  ASSERT_EQ(ended.records.size(), 1U);
  EXPECT_EQ(ended.records[0]["kind"], "crash");
  EXPECT_EQ(ended.records[0]["exceptions"][0]["message"], "taken out");
  EXPECT_THAT(ended.records[0].dump(), Not(HasSubstr(std::string(kPatient))));
  EXPECT_THAT(ended.standard_error, HasSubstr("taken out"));
}

TEST_F(FilterOfOtherKinds, ASignalHandlerAsksNobody) {
  const Ended ended = child_.run([] {
    default_handlers();
    return fit(filtered([](collector::Record& record) {
                 return record.kind == collector::RecordKind::kCrash
                            ? FilterVerdict::kDrop
                            : FilterVerdict::kKeep;
               }),
               [](mishap::Run&) { raise(SIGSEGV); });
  });
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
  EXPECT_EQ(ended.records.size(), 1U);
}

}  // namespace
}  // namespace mishap
