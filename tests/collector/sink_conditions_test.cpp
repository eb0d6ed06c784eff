// Writing where the machine is against it; each check in a child of its own,
// since limits and users belong to a process.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/sink.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "in_child.h"
#include "temporary_folder.h"

namespace mishap::collector {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr uid_t kSomebodyElse = 12'345;

// Root is asked no permission, so it becomes nobody.
void become_nobody() {
  constexpr uid_t kNobody = 65'534;
  if (geteuid() != 0) return;
  if (setgid(kNobody) != 0 || setuid(kNobody) != 0) {
    _exit(2);
  }
}

std::vector<int> take_all_descriptors() {
  const rlimit few{64, 64};
  setrlimit(RLIMIT_NOFILE, &few);
  std::vector<int> taken;
  for (int file = dup(0); file >= 0; file = dup(0)) taken.push_back(file);
  return taken;
}

// A sink's fallback, in memory, so that reading it opens no file.
class Fallback {
 public:
  int get() const { return file_; }
  std::string text() const {
    std::string text(64 * 1024, '\0');
    const ssize_t size = pread(file_, text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }

 private:
  int file_ = memfd_create("fallback", 0);
};

TEST(I4RecordFolderReadOnly, TheLineGoesToTheFallbackWithTheReason) {
  TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms{0555});
  EXPECT_TRUE(holds_in_child([&] {
    become_nobody();
    const Fallback fallback;
    RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
    return !sink.append_record("{\"number\":7}\n") &&
           fallback.text().find("Permission denied") != std::string::npos &&
           fallback.text().find("{\"number\":7}\n") != std::string::npos;
  }));
  fs::permissions(folder.path(), fs::perms{0755});
}

TEST(I4RecordFolderReadOnly, ARecordsFileThatMayNotBeWrittenIsTold) {
  TemporaryFolder folder;
  std::ofstream(folder / "records.jsonl") << "{\"number\":1}\n";
  fs::permissions(folder.path(), fs::perms{0755});
  fs::permissions(folder / "records.jsonl", fs::perms{0444});
  EXPECT_TRUE(holds_in_child([&] {
    become_nobody();
    const Fallback fallback;
    RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
    return !sink.append_record("{\"number\":2}\n") &&
           fallback.text().find("open: Permission denied") != std::string::npos;
  }));
  EXPECT_EQ(content_of(folder / "records.jsonl"), "{\"number\":1}\n");
}

TEST(NoDescriptorsLeft, TheReservedOneWritesEveryLine) {
  TemporaryFolder folder;
  EXPECT_TRUE(holds_in_child([&] {
    RecordSink sink({.folder = folder / "records"});
    const auto taken = take_all_descriptors();
    return !taken.empty() && sink.append_record("{\"number\":1}\n") &&
           sink.append_run("{\"number\":2}\n") &&
           sink.append_record("{\"number\":3}\n") && open("/", O_RDONLY) < 0;
  }));
  EXPECT_EQ(content_of(folder / "records/records.jsonl"),
            "{\"number\":1}\n{\"number\":3}\n");
}

TEST(NoDescriptorsLeft, ADescriptorThatBelongsToSomebodyElseByNowStaysOpen) {
  TemporaryFolder folder;
  EXPECT_TRUE(holds_in_child([&] {
    const Fallback fallback;
    RecordSink sink(
        {.folder = folder / "records", .fallback_fd = fallback.get()});
    const auto kept = static_cast<unsigned>(fallback.get());
    close_range(kept + 1, ~0U, 0);
    if (kept > 3) close_range(3, kept - 1, 0);
    const auto taken = take_all_descriptors();
    const bool refused = !sink.append_record("{}\n");
    bool all_open = true;
    for (const int file : taken) all_open &= fcntl(file, F_GETFD) >= 0;
    return refused && all_open;
  }));
}

TEST(SymbolicLink, AnotherUsersIsNotFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make one";
  TemporaryFolder folder;
  const std::string target = folder / "target";
  const std::string link = folder / "records.jsonl";
  std::ofstream(target) << "mine\n";
  fs::create_symlink(target, link);
  ASSERT_EQ(lchown(link.c_str(), kSomebodyElse, kSomebodyElse), 0);
  const Fallback fallback;
  RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
  EXPECT_FALSE(sink.append_record("{}\n"));
  EXPECT_EQ(content_of(target), "mine\n");
  EXPECT_THAT(fallback.text(), HasSubstr("another user's symbolic link"));
}

TEST(SymbolicLink, OnesOwnIsFollowed) {
  TemporaryFolder folder;
  fs::create_symlink(folder / "target", folder / "records.jsonl");
  RecordSink sink({.folder = folder.path()});
  EXPECT_TRUE(sink.append_record("{}\n"));
  EXPECT_EQ(content_of(folder / "target"), "{}\n");
}

TEST(FolderForAll, AFileOfAnotherUserIsNotWritten) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make one";
  TemporaryFolder folder;
  const std::string path = folder / "records.jsonl";
  std::ofstream(path) << "his\n";
  ASSERT_EQ(chown(path.c_str(), kSomebodyElse, kSomebodyElse), 0);
  const Fallback fallback;
  RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
  fs::permissions(folder.path(), fs::perms{0777});
  EXPECT_FALSE(sink.append_record("{}\n"));
  EXPECT_EQ(content_of(path), "his\n");
  fs::permissions(folder.path(), fs::perms{0755});
  EXPECT_TRUE(sink.append_record("{}\n")) << "a shared folder of a group";
}

TEST(Fifo, WithoutAReaderTheLineIsNotLost) {
  TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "records.jsonl").c_str(), 0600), 0);
  const Fallback fallback;
  RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
  EXPECT_FALSE(sink.append_record("{\"number\":7}\n"));
  EXPECT_THAT(fallback.text(), HasSubstr("{\"number\":7}\n"));
}

TEST(Fifo, AReaderGetsTheLine) {
  TemporaryFolder folder;
  const std::string path = folder / "records.jsonl";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  RecordSink sink({.folder = folder.path()});
  EXPECT_TRUE(sink.append_record("{}\n"));
  std::string text(16, '\0');
  EXPECT_EQ(read(reader, text.data(), text.size()), 3);
  close(reader);
}

TEST(Fork, AChildMadeWhileALineIsWrittenKeepsNoLock) {
  constexpr int kChildren = 100;
  TemporaryFolder folder;
  RecordSink sink({.folder = folder.path()});
  std::atomic<bool> done = false;
  std::thread writer([&] {
    while (!done) sink.append_record("{}\n");
  });
  std::vector<pid_t> children;
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) pause();
    }
    children.push_back(child);
  }
  done = true;
  writer.join();
  EXPECT_TRUE(sink.take_notes().views().empty()) << "a lock was not had";
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST(Fallback, LinesOfSeveralThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 50;
  TemporaryFolder folder;
  const int file =
      open((folder / "stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  RecordSink sink({.folder = "/proc/none", .fallback_fd = file});
  const std::string line = "{\"fill\":\"" + std::string(9'000, 'x') + "\"}\n";
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kLines; ++k) sink.append_record(line);
    });
  }
  for (auto& thread : threads) thread.join();
  close(file);
  const auto lines = lines_in(folder / "stderr");
  EXPECT_EQ(lines.size(), std::size_t{kThreads * kLines});
  for (const std::string& told : lines) {
    EXPECT_EQ(told.size(), lines.front().size());
  }
}

}  // namespace
}  // namespace mishap::collector
