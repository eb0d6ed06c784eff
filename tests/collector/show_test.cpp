#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/show.h>
#include <mishap/collector/show/text.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sample_records.h"

namespace mishap::collector {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string shown(const Record& record, const ShowOptions& options = {}) {
  return show(StoredRecord::parse(samples::line_of(record)), options);
}

TEST(Show, SaysWhatWhereWhyAndHowToRepeatIt) {
  const std::string page = shown(samples::typical());
  EXPECT_THAT(page, AllOf(HasSubstr("fit failed in training_step of module "
                                    "(stage train, epoch 1, batch 12, step "
                                    "40)"),
                          HasSubstr("c10::IndexError: Target 11 is out of "
                                    "bounds."),
                          HasSubstr("throw(c10_index) at "
                                    "hook/training_step/module, hit 41"),
                          HasSubstr("training_step               module  did "
                                    "not return"),
                          HasSubstr("again: mishap run digits")));
}

TEST(Show, SaysHowOftenItHappened) {
  Record record = samples::typical();
  record.occurrence_count = 1;
  EXPECT_THAT(shown(record), Not(HasSubstr("of its kind")));
  record.occurrence_count = 400;
  EXPECT_THAT(shown(record),
              HasSubstr("number 400 of its kind in that process"));
}

TEST(Show, MarksTheFramesOfTheUser) {
  const std::string page = shown(samples::maximal());
  EXPECT_THAT(page, HasSubstr("> 0  app::Net::forward()  /srv/app/net.cpp:42"));
}

TEST(Show, NamesFramesByTheFunctionThatItIsGiven) {
  ShowOptions options;
  options.name_frame = [](const UnnamedFrame& frame) {
    if (frame.offset != 0x1'0000) return std::vector<NamedFrame>{};
    EXPECT_EQ(frame.module, 0U);
    return std::vector<NamedFrame>{{"inner", "a.cpp", 3, true},
                                   {"outer", "b.cpp", 4, false}};
  };
  const std::string page = shown(samples::typical(), options);
  EXPECT_THAT(page, AllOf(HasSubstr("> 0  inner  a.cpp:3\n  0  outer  b.cpp:4"),
                          HasSubstr("module 1 + 0x11234")));
}

TEST(Show, FallsBackToTheStackThatTheExceptionCarries) {
  std::array<RecordException, 1> exceptions;
  exceptions[0].type = "c10::Error";
  exceptions[0].native_backtrace = "frame #0: at::native::addmm";
  Record record = samples::minimal();
  record.exceptions = exceptions;
  EXPECT_THAT(shown(record), HasSubstr("frame #0: at::native::addmm"));
}

TEST(Show, TellsOtherEndsFromErrors) {
  Record record = samples::minimal();
  record.place.entry_point = "fit";
  record.kind = RecordKind::kInterrupt;
  record.interrupt.signal = "SIGINT";
  record.interrupt.delay_micros = 1'500;
  EXPECT_THAT(shown(record), AllOf(HasSubstr("fit was interrupted by SIGINT"),
                                   HasSubstr("was honoured 1.5 ms later")));
  record.kind = RecordKind::kKilled;
  EXPECT_THAT(shown(record), HasSubstr("fit was killed"));
  record.kind = RecordKind::kHang;
  EXPECT_THAT(shown(record), HasSubstr("fit hung"));
  record.kind = RecordKind::kExit;
  record.exit.status = 3;
  EXPECT_THAT(shown(record), HasSubstr("exited with status 3"));
  record.kind = RecordKind::kCrash;
  EXPECT_THAT(shown(record), HasSubstr("fit was ended by std::terminate()"));
  record.signal.name = "SIGSEGV";
  EXPECT_THAT(shown(record), HasSubstr("crashed with SIGSEGV"));
}

TEST(Show, FitsOnAPageAndCountsWhatItLeftOut) {
  for (const std::size_t limit : {20U, 60U}) {
    ShowOptions options;
    options.max_lines = limit;
    const std::string page = shown(samples::typical(), options);
    EXPECT_LE(std::count(page.begin(), page.end(), '\n'),
              static_cast<std::ptrdiff_t>(limit));
  }
  ShowOptions small;
  small.max_lines = 20;
  EXPECT_THAT(shown(samples::typical(), small),
              AllOf(HasSubstr(" more\n"), HasSubstr("again: ")));
}

TEST(Show, ColoursOnlyWhenAsked) {
  EXPECT_THAT(shown(samples::typical()), Not(HasSubstr("\x1b")));
  ShowOptions options;
  options.colour = true;
  EXPECT_THAT(shown(samples::typical(), options), HasSubstr("\x1b["));
}

TEST(Show, DoesNotObeyTheControlCharactersOfARecord) {
  const std::string page = shown(samples::hostile());
  EXPECT_THAT(page, AllOf(Not(HasSubstr("\x1b")), HasSubstr("\\x1b[31m")));
}

TEST(Show, ShowsARecordOfWhichNothingIsKnown) {
  EXPECT_THAT(shown(samples::minimal()), HasSubstr("the process failed"));
  EXPECT_NE(show(StoredRecord::parse("{}")), "");
}

TEST(Show, NamesTheErrorsAfterTheFirstAndTheCauses) {
  EXPECT_THAT(shown(samples::maximal()),
              AllOf(HasSubstr("caused by int"),
                    HasSubstr("errors after the first one\n  "
                              "std::runtime_error: second  in teardown of "
                              "callback.Spy"),
                    HasSubstr("timed_out")));
}

TEST(ShowText, ChoosesUnitsThatAPersonReads) {
  EXPECT_EQ(duration(999), "999 us");
  EXPECT_EQ(duration(12'345), "12.3 ms");
  EXPECT_EQ(duration(30'000'000), "30.0 s");
  EXPECT_EQ(bytes(512), "512 bytes");
  EXPECT_EQ(bytes(3 << 20), "3.0 MiB");
  EXPECT_EQ(utc(1'750'000'000'123'456'789), "2025-06-15 15:06:40 UTC");
}

}  // namespace
}  // namespace mishap::collector
