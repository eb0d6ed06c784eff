#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/harness/program/journal.h>
#include <mishap/trainer/harness/program/kept_files.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "../temp_folder.h"

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

class KeptFilesTest : public ::testing::Test {
 protected:
  KeptFilesTest() {
    fs::create_directories(work());
    fs::create_directories(scratch() + "/kept");
  }

  std::string work() const { return folder_.path() + "/work"; }
  std::string out() const { return folder_.path() + "/out"; }
  std::string scratch() const { return out() + "/scratch"; }
  std::string path(const std::string& name) const {
    return work() + '/' + name;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::trunc) << text;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  ino_t inode(const std::string& name) const {
    KeptFile file;
    return look_at(path(name), file) ? file.inode : 0;
  }
  KeptFiles files() const {
    KeptFiles files(scratch() + "/kept", {out()});
    files.watch_folder(work());
    return files;
  }

  testing::TempFolder folder_;
};

bool ours(const std::string&) { return true; }
bool not_ours(const std::string&) { return false; }

TEST_F(KeptFilesTest, PutsBackContentNameInodeModeAndTime) {
  write("changed", "before");
  write("replaced", "old");
  write("removed", "here");
  chmod(path("changed").c_str(), 0640);
  const ino_t replaced = inode("replaced");
  const ino_t removed = inode("removed");
  KeptFiles files = this->files();
  KeptState state = files.take();
  const KeptFile before = state.at(path("changed"));

  write("changed", "afterwards and longer");
  chmod(path("changed").c_str(), 0600);
  write("next", "new");
  fs::rename(path("next"), path("replaced"));
  fs::remove(path("removed"));
  write("added", "more");
  fs::create_directories(path("folder/inner"));
  EXPECT_THAT(files.put_back(state, ours), ::testing::IsEmpty());

  EXPECT_EQ(read("changed"), "before");
  EXPECT_EQ(read("replaced"), "old");
  EXPECT_EQ(read("removed"), "here");
  EXPECT_EQ(inode("replaced"), replaced);
  EXPECT_EQ(inode("removed"), removed);
  EXPECT_FALSE(fs::exists(path("added")));
  EXPECT_FALSE(fs::exists(path("folder")));
  KeptFile now;
  ASSERT_TRUE(look_at(path("changed"), now));
  EXPECT_EQ(now.mode, before.mode);
  EXPECT_EQ(now.modified.tv_sec, before.modified.tv_sec);
  EXPECT_EQ(now.modified.tv_nsec, before.modified.tv_nsec);
  EXPECT_TRUE(files.compare(state).empty());
}

// The kernel's clock for files is too slow to tell the two contents apart.
TEST_F(KeptFilesTest, SeesAChangeWithinTheSameMoment) {
  for (int i = 0; i < 50; ++i) {
    write("file", "aaaa");
    KeptFiles files = this->files();
    KeptState state = files.take();
    std::fstream(path("file"), std::ios::in | std::ios::out) << "bbbb";
    KeptFile now;
    ASSERT_TRUE(look_at(path("file"), now));
    ASSERT_THAT(files.compare(state).changed,
                ::testing::ElementsAre(path("file")))
        << i;
    files.put_back(state, ours);
    ASSERT_EQ(read("file"), "aaaa");
  }
}

TEST_F(KeptFilesTest, PutsBackAFolderThatWasRenamedWithAllThatIsInIt) {
  fs::create_directories(path("data"));
  write("data/deep", "deep");
  KeptFiles files = this->files();
  KeptState state = files.take();
  fs::rename(path("data"), path("data.bak"));
  files.put_back(state, ours);
  EXPECT_EQ(read("data/deep"), "deep");
  EXPECT_FALSE(fs::exists(path("data.bak")));
}

TEST_F(KeptFilesTest, ThrowsNothingAwayThatTheProgramDidNotMake) {
  write("edited", "before");
  KeptFiles files = this->files();
  KeptState state = files.take();
  write("edited", "by a person");
  write("written", "by a person too");
  files.put_back(state, not_ours);
  EXPECT_EQ(read("edited"), "before");
  EXPECT_FALSE(fs::exists(path("written")));
  EXPECT_EQ(files.put_aside(), 2U);
  int found = 0;
  for (const auto& entry : fs::directory_iterator(out() + "/aside")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    found += text.str().starts_with("by a person") ? 1 : 0;
  }
  EXPECT_EQ(found, 2);
}

TEST_F(KeptFilesTest, LeavesItsOwnFolderAlone) {
  KeptFiles files(scratch() + "/kept", {out()});
  files.watch_folder(folder_.path());
  KeptState state = files.take();
  std::ofstream(out() + "/cases.jsonl") << "{}\n";
  EXPECT_TRUE(files.compare(state).empty());
}

TEST_F(KeptFilesTest, WhoOutlivesItPutsBackFromTheJournal) {
  write("name\twith\n%odd", "before");
  fs::create_symlink("nowhere", path("link"));
  {
    KeptFiles files = this->files();
    Journal journal;
    journal.folders = files.folders();
    journal.state = files.take();
    write_journal(scratch(), journal);
    // Nobody puts anything away: the process is killed.
    static std::vector<KeptState> kept;
    kept.push_back(journal.state);
  }
  write("name\twith\n%odd", "torn");
  fs::remove(path("link"));
  write("left", "over");
  EXPECT_TRUE(put_back_from(scratch()));
  EXPECT_EQ(read("name\twith\n%odd"), "before");
  EXPECT_EQ(fs::read_symlink(path("link")), "nowhere");
  EXPECT_FALSE(fs::exists(path("left")));
}

TEST_F(KeptFilesTest, HalfAJournalIsNone) {
  std::ofstream(scratch() + "/journal") << "folder\t=" << work() << "\n";
  EXPECT_FALSE(read_journal(scratch()));
  EXPECT_TRUE(put_back_from(scratch()));
}

}  // namespace
}  // namespace mishap::program
