#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/replace_file.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "../temp_folder.h"

namespace mishap {
namespace {

// Passes every call on, and first tells a listener, which may fail it.
class WatchedStore final : public FileStore {
 public:
  /// 0 passes the call on, an errno fails it.
  using Listener = std::function<int(std::string_view call)>;
  explicit WatchedStore(Listener listener) : listener_(std::move(listener)) {}

  int create(const char* path) override {
    return refused("open") ? -1 : system().create(path);
  }
  int open_folder(const char* path) override {
    return refused("open") ? -1 : system().open_folder(path);
  }
  int open(const char* path) override { return system().open(path); }
  ssize_t read(int file, void* data, std::size_t size) override {
    return system().read(file, data, size);
  }
  ssize_t write(int file, const void* data, std::size_t size) override {
    if (refused("write")) {
      if (errno != 0) {
        return -1;
      }
      size = 1;
    }
    return system().write(file, data, size);
  }
  int fsync(int file) override {
    return refused("fsync") ? -1 : system().fsync(file);
  }
  int close(int file) override {
    if (refused("close")) {
      const int number = errno;
      system().close(file);
      errno = number;
      return -1;
    }
    return system().close(file);
  }
  int link(const char* from, const char* to) override {
    return refused("link") ? -1 : system().link(from, to);
  }
  int rename(const char* from, const char* to) override {
    return refused("rename") ? -1 : system().rename(from, to);
  }
  int unlink(const char* path) override {
    return refused("unlink") ? -1 : system().unlink(path);
  }

  static constexpr int kShort = -1;

 private:
  bool refused(std::string_view call) {
    const int number = listener_(call);
    errno = number == kShort ? 0 : number;
    return number != 0;
  }

  Listener listener_;
};

class ReplaceFile : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "model.pt"; }
  std::string read() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  mishap::testing::TempFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

TEST_F(ReplaceFile, MakesAFileAndReplacesIt) {
  replace_file(path(), "first");
  EXPECT_EQ(read(), "first");
  replace_file(path(), "second");
  EXPECT_EQ(read(), "second");
  EXPECT_THAT(names(), ::testing::ElementsAre("model.pt"));
}

TEST_F(ReplaceFile, WorksInTheCurrentFolder) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  replace_file("model.pt", "here");
  std::filesystem::current_path(before);
  EXPECT_EQ(read(), "here");
}

TEST_F(ReplaceFile, ReplacesTheTargetOfALink) {
  std::filesystem::create_directory(folder_ / "store");
  std::ofstream(folder_ / "store" / "real.pt") << "old";
  std::filesystem::create_symlink("store/real.pt", path());
  replace_file(path(), "new");
  EXPECT_EQ(read(), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
}

TEST_F(ReplaceFile, LinkToNothingLeadsToTheNewFile) {
  std::filesystem::create_directory(folder_ / "store");
  std::filesystem::create_symlink("store/later.pt", path());
  replace_file(path(), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  EXPECT_EQ(read(), "new");
  EXPECT_TRUE(std::filesystem::is_regular_file(folder_ / "store/later.pt"));
}

TEST_F(ReplaceFile, NamesTheCallThePathAndTheErrno) {
  try {
    replace_file(folder_ / "missing" / "model.pt", "x");
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
    EXPECT_EQ(error.call(), "open");
    EXPECT_THAT(error.path(), ::testing::HasSubstr("missing/.model.pt"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("No such file"));
  }
}

// The calls of one save over an old file, unlinks at the end apart.
std::size_t calls_of(const std::string& path) {
  std::size_t calls = 0;
  WatchedStore store([&](std::string_view call) {
    calls += call == "unlink" ? 0 : 1;
    return 0;
  });
  replace_file(path, "clean", store);
  return calls;
}

TEST_F(ReplaceFile, KeepsTheOldFileWhicheverCallFails) {
  const std::size_t calls = calls_of(path());
  ASSERT_GE(calls, 7U);
  for (const bool had_old : {true, false}) {
    for (const bool persistent : {false, true}) {
      for (const int error : {ENOSPC, EDQUOT, EIO}) {
        for (std::size_t failing = 0; failing < calls; ++failing) {
          std::filesystem::remove(path());
          if (had_old) {
            replace_file(path(), "old");
          }
          std::size_t call_number = 0;
          WatchedStore store([&](std::string_view call) {
            if (call == "unlink") {
              return 0;
            }
            const std::size_t now = call_number++;
            // Rolling back needs a call that works.
            const bool is_late = call == "rename" && now > failing;
            return now == failing || (persistent && now > failing && !is_late)
                       ? error
                       : 0;
          });
          try {
            replace_file(path(), "new", store);
            ADD_FAILURE() << "call " << failing << " was not told";
          } catch (const FileError& told) {
            EXPECT_EQ(told.code().value(), error) << failing;
          }
          EXPECT_EQ(read(), had_old ? "old" : "") << failing;
          EXPECT_EQ(names().size(), had_old ? 1U : 0U) << failing;
        }
      }
    }
  }
}

TEST_F(ReplaceFile, GoesOnAfterShortAndInterruptedWrites) {
  int writes = 0;
  WatchedStore store([&](std::string_view call) {
    if (call != "write") {
      return 0;
    }
    switch (writes++) {
      case 0:
        return WatchedStore::kShort;
      case 1:
        return EINTR;
      default:
        return 0;
    }
  });
  replace_file(path(), "complete", store);
  EXPECT_EQ(read(), "complete");
  EXPECT_EQ(writes, 3);
}

TEST_F(ReplaceFile, ShowsTheOldOrTheNewFileWheneverItIsKilled) {
  std::size_t calls = 0;
  WatchedStore counting([&](std::string_view) {
    ++calls;
    return 0;
  });
  replace_file(path(), "old");
  replace_file(path(), "old", counting);
  for (std::size_t last = 0; last < calls; ++last) {
    const pid_t child = fork();
    if (child == 0) {
      std::size_t number = 0;
      WatchedStore store([&](std::string_view) {
        if (number++ == last) {
          kill(getpid(), SIGKILL);
        }
        return 0;
      });
      replace_file(path(), "new", store);
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << last;
    EXPECT_THAT(read(), ::testing::AnyOf("old", "new")) << last;
    replace_file(path(), "old");
    EXPECT_THAT(names(), ::testing::ElementsAre("model.pt")) << last;
  }
}

TEST_F(ReplaceFile, TakesAFileSizeLimitForAnError) {
  const pid_t child = fork();
  if (child == 0) {
    replace_file(path(), "old");
    const rlimit limit{10, 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      replace_file(path(), std::string(1000, 'x'));
    } catch (const FileError& error) {
      _exit(error.code().value() == EFBIG && error.call() == "write" ? 0 : 2);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read(), "old");
}

TEST_F(ReplaceFile, LeavesTheFilesOfOthersAlone) {
  for (const char* name : {".model.pt.mishap-1-0", ".model.pt.mishap-x",
                           ".other.mishap-999999-0", ".model.pt.mishap-"}) {
    std::ofstream(folder_ / name) << "mine";
  }
  replace_file(path(), "new");
  EXPECT_EQ(names().size(), 5U);
}

}  // namespace
}  // namespace mishap
