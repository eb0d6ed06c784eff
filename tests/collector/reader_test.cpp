#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/reader.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "sample_records.h"

namespace mishap::collector {
namespace {

std::string record_with_id(int id) {
  return R"({"record_id":")" + std::to_string(id) + "\"}";
}

std::vector<std::string> ids_of(const std::string& text) {
  std::istringstream input(text);
  RecordReader reader(input, "records.jsonl");
  std::vector<std::string> ids;
  while (auto record = reader.next()) ids.push_back(record->id());
  return ids;
}

std::string problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadRecord& problem) {
    return problem.what();
  }
  return "no problem";
}

TEST(StoredRecord, GivesValuesByTheirPointers) {
  const auto record = StoredRecord::parse(samples::line_of(samples::typical()));
  EXPECT_EQ(record.id(), samples::typical().record_id);
  EXPECT_EQ(record.text("/hook"), "training_step");
  EXPECT_EQ(record.integer("/epoch"), 1);
  EXPECT_EQ(record.integer("/time_unix_nano"), 1'750'000'000'123'456'789);
  EXPECT_EQ(record.flag("/modes/grad_enabled"), true);
  EXPECT_EQ(record.number("/batch/0/max"), 16.0);
  EXPECT_EQ(record.size("/exceptions/0/stack/frames"), 20U);
}

TEST(StoredRecord, GivesNothingForWhatIsNotThereOrOfAnotherType) {
  const auto record = StoredRecord::parse(R"({"a":null,"b":"x","c":1.5})");
  EXPECT_EQ(record.text("/a"), std::nullopt);
  EXPECT_EQ(record.integer("/b"), std::nullopt);
  EXPECT_EQ(record.integer("/c"), std::nullopt);
  EXPECT_EQ(record.text("/none/3/deep"), std::nullopt);
  EXPECT_EQ(record.text("no pointer"), std::nullopt);
  EXPECT_EQ(record.flag("/b"), std::nullopt);
  EXPECT_EQ(record.number("/b"), std::nullopt);
  EXPECT_EQ(record.size("/b"), 0U);
  EXPECT_EQ(record.id(), "");
}

TEST(RecordReader, DropsASecondRecordWithTheSameId) {
  const std::string text = record_with_id(1) + "\n" + record_with_id(2) + "\n" +
                           record_with_id(1) + "\n";
  std::istringstream input(text);
  RecordReader reader(input, "records.jsonl");
  int count = 0;
  while (reader.next()) ++count;
  EXPECT_EQ(count, 2);
  EXPECT_EQ(reader.duplicates(), 1U);
  EXPECT_FALSE(reader.torn());
}

TEST(RecordReader, PassesOverEmptyLinesAndATornLastOne) {
  EXPECT_THAT(ids_of("\n" + record_with_id(1) + "\r\n\n" + record_with_id(2) +
                     "\n{\"record_id\":\"3"),
              testing::ElementsAre("1", "2"));
}

TEST(RecordReader, ReadsALastLineThatOnlyLacksItsNewline) {
  EXPECT_THAT(ids_of(record_with_id(1)), testing::ElementsAre("1"));
}

TEST(RecordReader, NamesFileAndLineOfABadLineAndGoesOn) {
  std::istringstream input(record_with_id(1) + "\n{\"torn\n" +
                           record_with_id(2) + "\n[1]\n{\"a\":1}\n");
  RecordReader reader(input, "runs/records.jsonl");
  EXPECT_EQ(reader.next()->id(), "1");
  EXPECT_EQ(problem_of([&] { reader.next(); }),
            "runs/records.jsonl:2: this line is no record: not valid JSON");
  EXPECT_EQ(reader.next()->id(), "2");
  EXPECT_EQ(problem_of([&] { reader.next(); }),
            "runs/records.jsonl:4: this line is no record: not a JSON object");
  EXPECT_EQ(problem_of([&] { reader.next(); }),
            "runs/records.jsonl:5: this line is no record: it has no "
            "record_id");
  EXPECT_FALSE(reader.next());
}

TEST(RecordReader, SaysThatAFileCannotBeRead) {
  std::ifstream none("/none/records.jsonl");
  EXPECT_EQ(problem_of([&] { RecordReader(none, "/none/records.jsonl"); }),
            "/none/records.jsonl: cannot be read; check the path");
}

TEST(RecordReader, SaysThatAFolderIsNoFile) {
  std::ifstream folder("/tmp");
  RecordReader reader(folder, "/tmp");
  EXPECT_EQ(problem_of([&] { reader.next(); }),
            "/tmp: reading failed; is it a file?");
}

TEST(RecordReader, ReadsRunRowsByTheirRunId) {
  EXPECT_THAT(ids_of(samples::line_of(samples::minimal_run()) + "\n"),
              testing::ElementsAre(samples::minimal_run().run_id));
}

}  // namespace
}  // namespace mishap::collector
