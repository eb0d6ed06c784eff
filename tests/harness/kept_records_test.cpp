// Which records are kept, and what stands in them: caps, the user's filter,
// secrets, rotation.
#include <mishap/collector/io/rotation.h>
#include <mishap/trainer/harness/capture/reproduce.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "guard_cases.h"

namespace mishap {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using KeptRecords = GuardCases;

template <class Error = std::runtime_error>
void fail_at(const std::string& name, const std::string& text,
             const HarnessOptions& options) {
  EXPECT_THROW(guard(
                   name, [&](mishap::Run&) { throw Error(text); }, options),
               Error);
}

// Kinds of this test's own: others in the same process count too.
struct Capped : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct OfAnotherKind : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// I5
TEST_F(KeptRecords, AfterTheCapErrorsOfAKindAreCountedAndToldByTheNextRecord) {
  options_.capture.caps = {.of_a_key = 3, .in_all = 1'000'000};
  for (int i = 0; i < 13; ++i) fail_at<Capped>("capped", "again", options_);
  const auto all = records();
  // 1, 2, 3, and the doubles 6 and 12.
  ASSERT_EQ(all.size(), 5U);
  const std::array<int, 5> numbers = {1, 2, 3, 6, 12};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(all[i]["occurrence_count"], numbers[i]);
  }
  EXPECT_TRUE(all[2]["notes"].empty());
  EXPECT_THAT(all[3]["notes"].dump(), HasSubstr("number 6 of its kind"));
  EXPECT_THAT(all[4]["notes"].dump(), HasSubstr("number 12 of its kind"));
  fail_at<OfAnotherKind>("capped", "first", options_);
  ASSERT_EQ(records().size(), 6U);
  EXPECT_EQ(records()[5]["occurrence_count"], 1);
}

TEST_F(KeptRecords, TheFilterMayChangeTheRecord) {
  options_.capture.filter = [](collector::Record& record) {
    static collector::RecordException changed;
    // What stands by in case of a kill has none.
    if (record.exceptions.empty()) return FilterVerdict::kKeep;
    changed = record.exceptions.front();
    changed.message = "taken out";
    record.exceptions = {&changed, 1};
    return FilterVerdict::kKeep;
  };
  const json record = record_of<std::runtime_error>(
      [](mishap::Run&) { throw std::runtime_error("patient 12"); });
  EXPECT_EQ(record["exceptions"][0]["message"], "taken out");
  EXPECT_EQ(record.dump().find("patient 12"), std::string::npos);
}

TEST_F(KeptRecords, TheFilterMayDropTheRecordAndTheErrorStaysTheSame) {
  options_.capture.filter = [](collector::Record&) {
    return FilterVerdict::kDrop;
  };
  fail_at("fit", "unwanted", options_);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/records.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/runs.jsonl"));
}

TEST_F(KeptRecords, AFilterThatThrowsCostsTheTextsNotTheRecord) {
  options_.capture.filter = [](collector::Record&) -> FilterVerdict {
    throw std::logic_error("the filter is wrong");
  };
  const json record = record_of<std::runtime_error>(
      [](mishap::Run&) { throw std::runtime_error("patient 12"); });
  EXPECT_EQ(record["exceptions"][0]["type"], "std::runtime_error");
  EXPECT_TRUE(record["exceptions"][0]["message"].is_null());
  EXPECT_TRUE(record["reproduce"].is_null());
  EXPECT_EQ(record.dump().find("patient 12"), std::string::npos);
  EXPECT_THAT(record["notes"].dump(),
              HasSubstr("the filter of the user threw"));
}

TEST_F(KeptRecords, SecretsStandInNoTextOfARecord) {
  const auto fault =
      arm("hook/on_step/loop=1*throw(runtime, \"password=hunter2\")");
  set_reproduce_command("train --api-key hunter2 '--token=hunter2 x'",
                        FaultsGo::kBefore);
  const json record = record_of<std::runtime_error>([](mishap::Run& run) {
    run.on_teardown("loop",
                    [] { throw std::runtime_error("secret: hunter2"); });
    throw std::runtime_error("at https://me:hunter2@host");
  });
  set_reproduce_command("", FaultsGo::kBefore);
  EXPECT_EQ(record.dump().find("hunter2"), std::string::npos) << record.dump(2);
  EXPECT_EQ(record["exceptions"][0]["message"], "at https://[redacted]@host");
  EXPECT_EQ(record["reproduce"],
            "train --api-key [redacted] '--token=[redacted]'");
}

// I1: what was no UTF-8 is kept as hexadecimal, but not where a secret was
// taken out of it.
TEST_F(KeptRecords, RawBytesDoNotShowWhatWasTakenOut) {
  const json record = record_of<std::runtime_error>(
      [](mishap::Run&) { throw std::runtime_error("\xff password=hunter2"); });
  EXPECT_TRUE(record["exceptions"][0]["message_bytes_hex"].is_null());
}

TEST_F(KeptRecords, TheFilesOfTheFolderArePutAsideWhenAskedFor) {
  options_.capture.rotation = {.bytes = 10'000, .files = 5};
  for (int i = 0; i < 12; ++i) {
    fail_at("rotated " + std::to_string(i), std::string(3'000, 'x'), options_);
  }
  const std::string path = folder_.path() + "/records.jsonl";
  EXPECT_GT(collector::with_rotated(path).size(), 2U);
  EXPECT_LE(std::filesystem::file_size(path), 10'000U);
}

}  // namespace
}  // namespace mishap
