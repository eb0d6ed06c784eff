#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/hash.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/utf8.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "allocation_counter.h"
#include "sample_records.h"

namespace mishap::collector {
namespace {

using nlohmann::json;

json parsed(const Record& record) {
  return json::parse(samples::line_of(record));
}

Record with_message(std::string_view message) {
  static std::array<RecordException, 1> exceptions;
  exceptions[0] = {};
  exceptions[0].type = "std::runtime_error";
  exceptions[0].message = message;
  Record record = samples::minimal();
  record.exceptions = exceptions;
  return record;
}

std::vector<std::string> lost_keys(const json& line) {
  std::vector<std::string> keys;
  for (const json& loss : line["truncated"]) keys.push_back(loss["key"]);
  return keys;
}

TEST(RecordWriter, EndsTheOnlyLineWithANewline) {
  std::array<char, kRecordBufferBytes> buffer;
  const std::size_t size = write_record(samples::maximal(), buffer);
  const std::string_view line(buffer.data(), size);
  EXPECT_EQ(line.find('\n'), size - 1);
}

TEST(RecordWriter, WritesTheSameKeysWhateverIsKnown) {
  const json least = parsed(samples::minimal());
  const json most = parsed(samples::maximal());
  std::vector<std::string> least_keys;
  std::vector<std::string> most_keys;
  for (const auto& [key, value] : least.items()) least_keys.push_back(key);
  for (const auto& [key, value] : most.items()) most_keys.push_back(key);
  EXPECT_EQ(least_keys, most_keys);
}

TEST(RecordWriter, KeepsSixtyFourBitValuesAsTexts) {
  const json line = parsed(samples::maximal());
  EXPECT_EQ(line["sequence"], "18446744073709551615");
  EXPECT_EQ(line["exceptions"][0]["stack"]["frames"][0]["address"],
            "0xffffffffffffffff");
}

TEST(RecordWriter, SaysWhatListsHadLostBeforeTheyCame) {
  Record record = samples::maximal();
  record.cleanup_total = record.cleanup.size() + 5;
  record.suppressed_total = record.suppressed.size();
  const json line = parsed(record);
  EXPECT_THAT(lost_keys(line), testing::Contains("/cleanup"));
  EXPECT_THAT(lost_keys(line), testing::Not(testing::Contains("/suppressed")));
  for (const json& loss : line["truncated"]) {
    if (loss["key"] == "/cleanup") {
      EXPECT_EQ(loss["kept"], record.cleanup.size());
      EXPECT_EQ(loss["total"], record.cleanup.size() + 5);
    }
  }
}

TEST(RecordWriter, ATypicalRecordIsSmall) {
  EXPECT_LE(samples::line_of(samples::typical()).size(), 8U * 1024);
}

// As in a sweep: named frames, many hooks.
Record long_record(std::vector<RecordFrame>& frames,
                   std::vector<RecordBreadcrumb>& crumbs,
                   RecordException& exception) {
  frames.assign(20, {});
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].address = i + 1;
    frames[i].function = "mishap::detail::FitLoop::train_batches";
    frames[i].file = "/srv/app/trainer/engine/detail/fit_loop.cpp";
  }
  crumbs.clear();
  for (std::int64_t i = 0; i < 100; ++i) {
    crumbs.push_back({i % 2 == 0 ? "on_train_batch_start" : "training_step",
                      "callback.EarlyStopping", CrumbPhase::kBefore, i});
  }
  exception = {};
  exception.type = "std::runtime_error";
  exception.stack.frames = frames;
  Record record = samples::typical();
  record.exceptions = {&exception, 1};
  record.breadcrumbs = crumbs;
  return record;
}

TEST(RecordWriter, ALongLineGivesUpOldBreadcrumbsAndFramesToBeSmall) {
  std::vector<RecordFrame> frames;
  std::vector<RecordBreadcrumb> crumbs;
  RecordException exception;
  const Record record = long_record(frames, crumbs, exception);
  const std::string line = samples::line_of(record);
  EXPECT_LE(line.size(), RecordLimits{}.small_bytes);
  const json tree = json::parse(line);
  EXPECT_EQ(tree["breadcrumbs"].size(), 8U);
  EXPECT_EQ(tree["breadcrumbs"].back()["hook"], "training_step");
  const json& kept = tree["exceptions"][0]["stack"]["frames"];
  EXPECT_GE(kept.size(), 10U);
  EXPECT_LT(kept.size(), 20U);
  EXPECT_EQ(kept[0]["address"], "0x1");
  EXPECT_THAT(lost_keys(tree),
              testing::UnorderedElementsAre("/breadcrumbs",
                                            "/exceptions/0/stack/frames"));
}

// The addresses of the frames that stay of such a stack.
std::vector<std::string> kept_of(std::vector<RecordFrame> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i].address = i + 1;
  RecordException exception;
  exception.stack.frames = frames;
  Record record = samples::minimal();
  record.exceptions = {&exception, 1};
  RecordLimits limits;
  limits.frames = 10;
  std::array<char, kRecordBufferBytes> buffer;
  const std::size_t size = write_record(record, buffer, limits);
  const json line = json::parse(std::string_view(buffer.data(), size));
  std::vector<std::string> kept;
  for (const json& frame : line["exceptions"][0]["stack"]["frames"]) {
    kept.push_back(frame["address"]);
  }
  return kept;
}

TEST(RecordWriter, OfALongStackTheFramesOfTheProgramStay) {
  std::vector<RecordFrame> frames(40);
  frames[30].in_app = frames[32].in_app = true;
  EXPECT_THAT(kept_of(frames),
              testing::ElementsAre("0x1", "0x2", "0x3", "0x4", "0x5", "0x6",
                                   "0x7", "0x8", "0x1f", "0x21"));
}

TEST(RecordWriter, OfADeepRecursionTheInnermostFramesStay) {
  std::vector<RecordFrame> frames(40);
  for (std::size_t i = 6; i < frames.size(); ++i) frames[i].in_app = true;
  EXPECT_THAT(kept_of(frames),
              testing::ElementsAre("0x1", "0x2", "0x3", "0x4", "0x7", "0x8",
                                   "0x9", "0xa", "0xb", "0xc"));
}

TEST(RecordWriter, ALineThatCannotBeSmallKeepsWhatItHas) {
  std::vector<RecordFrame> frames;
  std::vector<RecordBreadcrumb> crumbs;
  RecordException exception;
  Record record = long_record(frames, crumbs, exception);
  const std::vector<RecordThreadStack> threads(
      8, RecordThreadStack{.id = 1,
                           .name = "worker",
                           .role = "worker",
                           .state = {},
                           .stack = exception.stack});
  record.threads = threads;
  const json tree = json::parse(samples::line_of(record));
  EXPECT_EQ(tree["breadcrumbs"].size(), RecordLimits{}.breadcrumbs);
  EXPECT_EQ(tree["exceptions"][0]["stack"]["frames"].size(), 20U);
}

TEST(RecordWriter, AllocatesNothing) {
  std::array<char, kRecordBufferBytes> buffer;
  for (const Record& record : {samples::minimal(), samples::typical(),
                               samples::maximal(), samples::hostile()}) {
    const std::size_t before = allocations();
    const std::size_t size = write_record(record, buffer);
    EXPECT_EQ(allocations(), before);
    EXPECT_GT(size, 0U);
  }
}

TEST(I1MessageIsNotUtf8, TheLineIsValidAndTheBytesCanBeHadBack) {
  const json line = parsed(with_message("bad \xff\xfe byte"));
  const json& exception = line["exceptions"][0];
  EXPECT_EQ(exception["message"], "bad \ufffd\ufffd byte");
  EXPECT_EQ(exception["message_bytes_hex"], "62616420fffe2062797465");
}

TEST(I1MessageIsNotUtf8, AValidMessageHasNoHex) {
  EXPECT_TRUE(
      parsed(with_message("caf\u00e9"))["exceptions"][0]["message_bytes_hex"]
          .is_null());
}

TEST(I1MessageIsNotUtf8, TheBytesOfEveryOtherTextAreKeptToo) {
  Record record = samples::minimal();
  record.thread.name = "worker \xfe";
  record.resume.path = "/data/\xe9.ckpt";
  const json line = parsed(record);
  EXPECT_EQ(line["thread"]["name"], "worker \ufffd");
  EXPECT_EQ(line["replaced_bytes"], json::parse(R"([{"key":"/thread/name",
                             "bytes_hex":"776f726b657220fe"},
                            {"key":"/resume/path",
                             "bytes_hex":"2f646174612fe92e636b7074"}])"));
}

TEST(I2NanAndInfinity, AreNullWithTheirWordBesideThem) {
  const std::array telemetry = {
      RecordTelemetry{.step = 1, .loss = std::nan(""), .step_micros = 1},
      RecordTelemetry{.step = 2, .loss = HUGE_VAL, .step_micros = 1},
      RecordTelemetry{.step = 3, .loss = -HUGE_VAL, .step_micros = 1},
      RecordTelemetry{.step = 4, .loss = 0.5, .step_micros = 1},
      RecordTelemetry{.step = 5, .loss = {}, .step_micros = 1}};
  Record record = samples::minimal();
  record.telemetry = telemetry;
  const json line = parsed(record);
  const json& steps = line["telemetry"];
  const std::array<json, 5> words = {"NaN", "Infinity", "-Infinity", nullptr,
                                     nullptr};
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(steps[i]["loss"].is_null(), i != 3) << i;
    EXPECT_EQ(steps[i]["loss_word"], words[i]) << i;
  }
  EXPECT_EQ(steps[3]["loss"], 0.5);
}

TEST(I3HugeMessages, AreCutWithTheirLengthAndHashKept) {
  std::string message(5'000'000, 'x');
  message += "the end";
  const json line = parsed(with_message(message));
  const json& exception = line["exceptions"][0];
  EXPECT_EQ(exception["message"].get<std::string>().size(),
            RecordLimits{}.message_bytes);
  EXPECT_EQ(exception["message_size"], message.size());
  std::array<char, 32> hash;
  std::snprintf(hash.data(), hash.size(), "0x%lx", fnv1a(message));
  EXPECT_EQ(exception["message_hash"], hash.data());
  EXPECT_THAT(lost_keys(line), testing::ElementsAre("/exceptions/0/message"));
}

TEST(I3HugeMessages, TheLengthThatTheCallerKnowsWins) {
  Record record = with_message("the beginning");
  auto exception = record.exceptions[0];
  exception.message_size = 9'000;
  exception.message_hash = 0xabc;
  record.exceptions = {&exception, 1};
  const json line = parsed(record);
  EXPECT_EQ(line["exceptions"][0]["message_size"], 9'000);
  EXPECT_EQ(line["exceptions"][0]["message_hash"], "0xabc");
  EXPECT_EQ(line["truncated"][0]["kept"], 13);
}

TEST(I3HugeMessages, ACutNeverSplitsACharacter) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string message(shift, 'a');
    while (message.size() < 10'000) message += "\U0001f600";
    const json line = parsed(with_message(message));
    const std::string kept = line["exceptions"][0]["message"];
    EXPECT_TRUE(line["exceptions"][0]["message_bytes_hex"].is_null());
    EXPECT_EQ(message.substr(0, kept.size()), kept);
    EXPECT_TRUE(is_utf8(kept));
  }
}

TEST(I3HugeMessages, AnEmbeddedNulIsKept) {
  const std::string message("before\0after", 12);
  EXPECT_EQ(parsed(with_message(message))["exceptions"][0]["message"], message);
}

TEST(RecordWriter, TellsNoMessageFromAnEmptyOne) {
  EXPECT_TRUE(parsed(with_message({}))["exceptions"][0]["message"].is_null());
  EXPECT_EQ(parsed(with_message(""))["exceptions"][0]["message"], "");
}

TEST(RecordWriter, KeepsTheInnermostFramesOfALongStack) {
  std::vector<RecordFrame> frames(64);
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i].address = i + 1;
  Record record = with_message("deep");
  auto exception = record.exceptions[0];
  exception.stack.frames = frames;
  record.exceptions = {&exception, 1};
  const json line = parsed(record);
  const json& kept = line["exceptions"][0]["stack"]["frames"];
  EXPECT_EQ(kept.size(), RecordLimits{}.frames);
  EXPECT_EQ(kept.front()["address"], "0x1");
  EXPECT_EQ(line["truncated"][0],
            json::parse(R"({"key":"/exceptions/0/stack/frames",
                            "kept":40,"total":64})"));
}

TEST(RecordWriter, KeepsTheNewestTelemetry) {
  std::vector<RecordTelemetry> steps(100);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].step = static_cast<std::int64_t>(i);
  }
  Record record = samples::minimal();
  record.telemetry = steps;
  EXPECT_EQ(parsed(record)["telemetry"].back()["step"], 99);
}

TEST(RecordWriter, ACommandIsWholeOrNotThere) {
  const std::string command(20'000, 'c');
  Record record = samples::minimal();
  record.reproduce = command;
  const json line = parsed(record);
  EXPECT_TRUE(line["reproduce"].is_null());
  EXPECT_THAT(lost_keys(line), testing::ElementsAre("/reproduce"));
}

TEST(RecordWriter, ShortensWhatWouldNotFitUntilItDoes) {
  const std::string text(4'000, 'n');
  std::vector<RecordFrame> frames(64);
  for (auto& frame : frames) frame.function = frame.file = text;
  std::vector<RecordThreadStack> threads(300);
  for (auto& thread : threads) thread.stack.frames = frames;
  Record record = samples::minimal();
  record.threads = threads;
  const std::string line = samples::line_of(record);
  ASSERT_FALSE(line.empty());
  EXPECT_LT(line.size(), kRecordBufferBytes);
  const json tree = json::parse(line);
  EXPECT_FALSE(tree["threads"].empty());
  EXPECT_THAT(lost_keys(tree), testing::Contains("/threads"));
}

TEST(RecordWriter, FitsInAnyBufferOrSaysThatItDoesNot) {
  const Record record = samples::maximal();
  const std::size_t whole = samples::line_of(record).size() + 1;
  for (std::size_t size = 0; size <= whole; size += 61) {
    std::vector<char> buffer(size + 1, '#');
    const std::size_t written =
        write_record(record, std::span(buffer.data(), size));
    EXPECT_EQ(buffer.back(), '#');
    if (written > 0) {
      EXPECT_TRUE(json::accept(std::string(buffer.data(), written)));
    } else {
      EXPECT_LT(size, whole);
    }
  }
}

TEST(Breadcrumbs, OneItemHoldsAHookAndTheComponentsItWentThrough) {
  std::vector<RecordBreadcrumb> crumbs;
  std::int64_t now = 1'000'000;
  for (const std::string_view component : {"callback.Spy", "data", "module"}) {
    for (const auto phase : {CrumbPhase::kBefore, CrumbPhase::kAfter}) {
      crumbs.push_back({"setup", component, phase, now += 10'000});
    }
  }
  Record record = samples::minimal();
  record.steady_nano = 2'010'000;
  record.breadcrumbs = crumbs;
  EXPECT_EQ(parsed(record)["breadcrumbs"], json::parse(R"([{"hook":"setup",
                             "components":["callback.Spy","data","module"],
                             "ago_micros":1000,"took_micros":50}])"));
}

TEST(Breadcrumbs, TimesOfADeadProcessMayBeAnyNumbers) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::array<RecordBreadcrumb, 2> crumbs = {{
      {"training_step", "module", CrumbPhase::kBefore, kLeast},
      {"training_step", "module", CrumbPhase::kAfter, kMost},
  }};
  Record record = samples::minimal();
  record.breadcrumbs = crumbs;
  record.steady_nano = kMost;
  EXPECT_EQ(parsed(record)["breadcrumbs"][0]["ago_micros"], 9007199254740991);
  EXPECT_EQ(parsed(record)["breadcrumbs"][0]["took_micros"], 9007199254740991);
  record.steady_nano = kLeast;
  EXPECT_EQ(parsed(record)["breadcrumbs"][0]["ago_micros"], 0);
}

TEST(Breadcrumbs, TheHookThatFailedHasNotReturned) {
  const std::array<RecordBreadcrumb, 4> crumbs = {{
      {"optimizer_step", "module", CrumbPhase::kBefore, 1'000},
      {"training_step", "module", CrumbPhase::kBefore, 2'000},
      {"training_step", "module", CrumbPhase::kAfter, 9'000},
      {"on_before_backward", "callback.Spy", CrumbPhase::kBefore, 10'000},
  }};
  Record record = samples::minimal();
  record.steady_nano = 20'000;
  record.breadcrumbs = crumbs;
  const json line = parsed(record)["breadcrumbs"];
  ASSERT_EQ(line.size(), 3U);
  EXPECT_TRUE(line[0]["took_micros"].is_null());
  EXPECT_EQ(line[1]["took_micros"], 7);
  EXPECT_EQ(line[2]["hook"], "on_before_backward");
  EXPECT_TRUE(line[2]["took_micros"].is_null());
}

TEST(Breadcrumbs, AnEndWithoutItsBeginningSaysNothing) {
  const std::array<RecordBreadcrumb, 1> crumbs = {
      {{"setup", "module", CrumbPhase::kAfter, 5}}};
  Record record = samples::minimal();
  record.breadcrumbs = crumbs;
  EXPECT_TRUE(parsed(record)["breadcrumbs"].empty());
}

TEST(I8ClockGoesBackwards, NoDurationIsNegative) {
  const std::array<RecordBreadcrumb, 2> crumbs = {{
      {"setup", "module", CrumbPhase::kBefore, 9'000'000},
      {"setup", "module", CrumbPhase::kAfter, 1'000'000},
  }};
  Record record = samples::minimal();
  record.steady_nano = 0;
  record.breadcrumbs = crumbs;
  const json line = parsed(record)["breadcrumbs"][0];
  EXPECT_EQ(line["ago_micros"], 0);
  EXPECT_EQ(line["took_micros"], 0);
}

}  // namespace
}  // namespace mishap::collector
