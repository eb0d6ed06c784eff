#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/io/rotation.h>
#include <mishap/collector/sink.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "temporary_folder.h"

namespace mishap::collector {
namespace {

using testing::ElementsAre;
namespace fs = std::filesystem;

std::string numbered(int number) {
  return R"({"number":)" + std::to_string(number) + R"(,"fill":")" +
         std::string(900, 'x') + "\"}\n";
}

std::vector<int> numbers_in(const std::string& path) {
  std::vector<int> numbers;
  for (const std::string& file : with_rotated(path)) {
    for (const std::string& line : lines_in(file)) {
      numbers.push_back(nlohmann::json::parse(line)["number"]);
    }
  }
  return numbers;
}

TEST(Rotation, NothingIsPutAsideUnlessAskedFor) {
  TemporaryFolder folder;
  RecordSink sink({.folder = folder.path()});
  for (int i = 0; i < 100; ++i) sink.append_record(numbered(i));
  EXPECT_THAT(with_rotated(sink.records_path()),
              ElementsAre(sink.records_path()));
}

TEST(I5RecordsWithoutEnd, TheNewestStayWithRotation) {
  TemporaryFolder folder;
  RecordSink sink(
      {.folder = folder.path(), .rotation = {.bytes = 5'000, .files = 3}});
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(sink.append_record(numbered(i)));
  }
  const std::string path = sink.records_path();
  EXPECT_THAT(with_rotated(path),
              ElementsAre(path + ".3", path + ".2", path + ".1", path));
  const std::vector<int> numbers = numbers_in(path);
  EXPECT_EQ(numbers.back(), 999);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i], numbers[i - 1] + 1) << "oldest first, none missing";
  }
  for (const std::string& file : with_rotated(path)) {
    EXPECT_LE(fs::file_size(file), 5'000U);
  }
}

TEST(Rotation, AnOldFileIsPutAside) {
  TemporaryFolder folder;
  RecordSink sink(
      {.folder = folder.path(), .rotation = {.age = std::chrono::seconds(1)}});
  ASSERT_TRUE(sink.append_record(numbered(1)));
  std::this_thread::sleep_for(std::chrono::milliseconds(2'100));
  ASSERT_TRUE(sink.append_record(numbered(2)));
  if (with_rotated(sink.records_path()).size() == 1) {
    GTEST_SKIP() << "this file system does not keep when a file was made";
  }
  EXPECT_THAT(numbers_in(sink.records_path()), ElementsAre(1, 2));
  EXPECT_EQ(lines_in(sink.records_path()).size(), 1U);
}

TEST(Rotation, ALineLongerThanTheLimitStillGetsAFileOfItsOwn) {
  TemporaryFolder folder;
  RecordSink sink({.folder = folder.path(), .rotation = {.bytes = 100}});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sink.append_record(numbered(i)));
  EXPECT_THAT(numbers_in(sink.records_path()), ElementsAre(0, 1, 2));
}

TEST(I6SeveralWriters, ProcessesAndThreadsLoseNoLineToRotation) {
  constexpr int kProcesses = 3;
  constexpr int kThreads = 2;
  constexpr int kLines = 100;
  TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      RecordSink sink({.folder = folder.path(),
                       .lock_wait = std::chrono::seconds(30),
                       .rotation = {.bytes = 20'000, .files = 60}});
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&sink, process, thread] {
          for (int i = 0; i < kLines; ++i) {
            sink.append_record(
                numbered((process * kThreads + thread) * kLines + i));
          }
        });
      }
      for (auto& thread : threads) thread.join();
      _exit(sink.failures() == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const std::vector<int> all = numbers_in(folder / "records.jsonl");
  const std::set<int> numbers(all.begin(), all.end());
  EXPECT_EQ(all.size(), numbers.size()) << "a line stands twice";
  EXPECT_EQ(numbers.size(), std::size_t{kProcesses * kThreads * kLines});
  EXPECT_GT(with_rotated(folder / "records.jsonl").size(), 10U);
}

}  // namespace
}  // namespace mishap::collector
