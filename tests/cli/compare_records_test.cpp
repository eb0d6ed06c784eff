#include <gmock/gmock.h>
#include <mishap/trainer/harness/cli/compare_records.h>

#include <string>

namespace mishap::cli {
namespace {

using collector::StoredRecord;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr const char* kRecord = R"({
  "record_id": "1", "kind": "error", "entry_point": "fit", "stage": "train",
  "hook": "training_step", "component": "module",
  "interrupt": {"signal": null},
  "exceptions": [{"type": "std::runtime_error", "message": "outer"},
                 {"type": "int", "message": "7"}],
  "suppressed": [{"component": "data", "type": "int", "message": "8"}]})";

StoredRecord record(const std::string& from = "", const std::string& to = "") {
  std::string text = kRecord;
  if (!from.empty()) {
    text.replace(text.find(from), from.size(), to);
  }
  return StoredRecord::parse(text);
}

TEST(CompareRecords, FindsNothingBetweenEqualFailures) {
  EXPECT_EQ(first_difference(record(), record("\"1\"", "\"2\"")), std::nullopt);
}

TEST(CompareRecords, NamesTheFirstFieldThatDiffers) {
  EXPECT_THAT(first_difference(record(), record("training_step", "backward")),
              Optional(HasSubstr("the hook was 'training_step' and is "
                                 "'backward' now")));
  EXPECT_THAT(first_difference(record(), record("\"train\"", "null")),
              Optional(HasSubstr("stage was 'train' and is nothing")));
  EXPECT_THAT(first_difference(record(), record("outer", "other")),
              Optional(HasSubstr("message was 'outer'")));
}

TEST(CompareRecords, LooksAtEveryCause) {
  EXPECT_THAT(first_difference(record(), record("\"int\"", "\"long\"")),
              Optional(HasSubstr("type of its cause")));
  const std::string cause = R"(,
                 {"type": "int", "message": "7"})";
  EXPECT_THAT(first_difference(record(), record(cause, "")),
              Optional(HasSubstr("is nothing now")));
}

TEST(CompareRecords, LooksAtTheErrorsOfTheCleanup) {
  EXPECT_THAT(
      first_difference(record(), record("\"8\"", "\"9\"")),
      Optional(HasSubstr("message of an error of the cleanup was '8'")));
  EXPECT_THAT(
      first_difference(
          record(),
          record(R"({"component": "data", "type": "int", "message": "8"})",
                 "")),
      Optional(HasSubstr("component of an error of the cleanup was 'data'")));
}

}  // namespace
}  // namespace mishap::cli
