#include <gmock/gmock.h>
#include <mishap/collector/pending_slot.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/records_input.h>
#include <mishap/trainer/harness/scratch_folder.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace mishap::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RecordsInputTest : public ::testing::Test {
 protected:
  std::string write(const std::string& text) const {
    const std::string path = folder_.path() + "/records.jsonl";
    std::ofstream(path) << text;
    return path;
  }

  static std::string line(const std::string& id) {
    return R"({"record_id": ")" + id + "\"}\n";
  }

  static std::string refusal(const std::string& path,
                             const RecordChoice& choice) {
    try {
      read_records(path, choice);
    } catch (const InputError& error) {
      return error.what();
    } catch (const collector::BadRecord& error) {
      return error.what();
    }
    return "found";
  }

  ScratchFolder folder_;
};

TEST_F(RecordsInputTest, TakesTheLastRecordsOfAFileOrFolder) {
  const std::string path = write(line("a1") + line("a2") + line("b1"));
  EXPECT_EQ(read_records(path, {}).records.front().id(), "b1");
  const ChosenRecords two = read_records(folder_.path(), {.id = "", .last = 2});
  ASSERT_EQ(two.records.size(), 2U);
  EXPECT_EQ(two.records[0].id(), "a2");
  EXPECT_EQ(two.total, 3U);
  EXPECT_EQ(two.folder, folder_.path());
}

TEST_F(RecordsInputTest, FindsARecordByTheBeginningOfItsId) {
  const std::string path = write(line("a1") + line("a2") + line("b1"));
  EXPECT_EQ(read_records(path, {.id = "b"}).records.front().id(), "b1");
  EXPECT_THAT(refusal(path, {.id = "a"}), HasSubstr("give more of it"));
  EXPECT_THAT(refusal(path, {.id = "c"}), HasSubstr("has the id 'c'"));
}

TEST_F(RecordsInputTest, PassesOverDamageAndSaysSoOnce) {
  const std::string path =
      write("damage\n" + line("a1") + "more\nof it\n" + line("a2"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(read_records(path, {}).total, 2U);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("records.jsonl:1:"), HasSubstr("2 more lines")));
}

TEST_F(RecordsInputTest, SaysWhatIsMissing) {
  EXPECT_THAT(refusal(folder_.path(), {}), HasSubstr("there is no file"));
  EXPECT_THAT(refusal(write(""), {}), HasSubstr("holds no records"));
  EXPECT_THAT(refusal(write("a,b\n1,2\n"), {}), HasSubstr("is no record"));
}

TEST_F(RecordsInputTest, RefusesAPipeThatNobodyWritesInto) {
  const std::string path = folder_.path() + "/records.jsonl";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(refusal(folder_.path(), {}), HasSubstr("is no regular file"));
  EXPECT_THAT(refusal(path, {}), HasSubstr("standard input"));
}

TEST_F(RecordsInputTest, AppendsWhatADeadProcessLeft) {
  const pid_t child = fork();
  if (child == 0) {
    collector::PendingSlot slot;
    if (!slot.open(folder_.path(), "run")) {
      _exit(1);
    }
    slot.freeze(R"({"record_id": "dead", "notes": []})");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(read_records(folder_.path(), {}).records.front().id(), "dead");
}

}  // namespace
}  // namespace mishap::cli
