#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/sink.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "allocation_counter.h"
#include "temporary_folder.h"

namespace mishap::collector {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

// Where a sink's fallback can be read.
class FallbackFile {
 public:
  FallbackFile()
      : file_(open((folder_ / "stderr").c_str(), O_RDWR | O_CREAT, 0600)) {}
  ~FallbackFile() { close(file_); }
  FallbackFile(const FallbackFile&) = delete;
  FallbackFile& operator=(const FallbackFile&) = delete;

  int get() const { return file_; }
  std::string text() const { return content_of(folder_ / "stderr"); }

 private:
  TemporaryFolder folder_;
  int file_;
};

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &previous_);
    const rlimit limit{bytes, previous_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &previous_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit previous_{};
};

std::string line_with(int number, std::size_t size) {
  return R"({"number":)" + std::to_string(number) + R"(,"fill":")" +
         std::string(size, 'x') + "\"}\n";
}

int number_in(const std::string& line) {
  return nlohmann::json::parse(line)["number"];
}

template <typename Call>
std::chrono::milliseconds time_of(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
}

TEST(RecordSink, MakesItsFolderOnlyForTheFirstLine) {
  TemporaryFolder folder;
  RecordSink sink({.folder = folder / "a/b/records"});
  EXPECT_FALSE(fs::exists(folder / "a"));
  EXPECT_TRUE(sink.append_record("{}\n"));
  EXPECT_TRUE(sink.append_run("{\"run\":1}\n"));
  EXPECT_EQ(content_of(sink.records_path()), "{}\n");
  EXPECT_EQ(content_of(sink.runs_path()), "{\"run\":1}\n");
}

TEST(RecordSink, KeepsItsFolderWhenTheProcessMoves) {
  TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  RecordSink sink({.folder = "records"});
  fs::current_path("/");
  EXPECT_TRUE(sink.append_record("{}\n"));
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(folder / "records/records.jsonl"));
}

TEST(RecordSink, AppendingAllocatesNothing) {
  TemporaryFolder folder;
  RecordSink good({.folder = folder / "records"});
  FallbackFile fallback;
  RecordSink bad({.folder = "/proc/none", .fallback_fd = fallback.get()});
  const std::size_t before = allocations();
  good.append_record("{}\n");
  bad.append_record("{}\n");
  SinkNotes notes = bad.take_notes();
  EXPECT_EQ(notes.views().size(), 1U);
  EXPECT_EQ(allocations(), before);
}

TEST(RecordSink, ClosesTheTornLineThatADeadWriterLeft) {
  TemporaryFolder folder;
  std::ofstream(folder / "records.jsonl") << "{\"number\":1}\n{\"numb";
  RecordSink sink({.folder = folder.path()});
  EXPECT_TRUE(sink.append_record("{\"number\":2}\n"));
  EXPECT_THAT(lines_in(sink.records_path()),
              ElementsAre("{\"number\":1}", "{\"numb", "{\"number\":2}"));
}

TEST(RecordSink, FsyncsWhenAsked) {
  TemporaryFolder folder;
  RecordSink sink({.folder = folder.path(), .fsync = true});
  EXPECT_TRUE(sink.append_record("{}\n"));
}

TEST(I4RecordFolderFull, TheLineIsTakenBackWholeAndGoesToTheFallback) {
  TemporaryFolder folder;
  FallbackFile fallback;
  RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
  ASSERT_TRUE(sink.append_record(line_with(1, 1'000)));
  const std::string before = content_of(sink.records_path());
  {
    const FileSizeLimit limit(before.size() + 300);
    EXPECT_FALSE(sink.append_record(line_with(2, 250)) &&
                 sink.append_record(line_with(3, 250)));
  }
  EXPECT_TRUE(sink.append_record(line_with(4, 1'000)));
  const auto lines = lines_in(sink.records_path());
  EXPECT_EQ(number_in(lines.front()), 1);
  EXPECT_EQ(number_in(lines.back()), 4);
  EXPECT_EQ(sink.failures(), 1U);
}

TEST(I4RecordFolderFull, AShortWriteLeavesNoPartOfTheLine) {
  TemporaryFolder folder;
  FallbackFile fallback;
  RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
  ASSERT_TRUE(sink.append_record(line_with(1, 1'000)));
  const std::string before = content_of(sink.records_path());
  {
    const FileSizeLimit limit(before.size() + 100);
    EXPECT_FALSE(sink.append_record(line_with(2, 50'000).c_str()));
  }
  EXPECT_EQ(content_of(sink.records_path()), before);
}

TEST(I4RecordFolderFull, TheFallbackIsOneLineWithTheReason) {
  TemporaryFolder folder;
  FallbackFile fallback;
  fs::create_symlink("/dev/full", folder / "records.jsonl");
  RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
  EXPECT_FALSE(sink.append_record("{\"number\":7}\n"));
  const std::string told = fallback.text();
  EXPECT_THAT(told, AllOf(HasSubstr(sink.records_path()),
                          HasSubstr("No space left on device"),
                          HasSubstr("{\"number\":7}")));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1);
}

TEST(I4RecordFolderMissing, AFolderThatCannotBeMadeIsToldAndSurvived) {
  FallbackFile fallback;
  RecordSink sink(
      {.folder = "/proc/mishap/records", .fallback_fd = fallback.get()});
  EXPECT_FALSE(sink.append_record("{\"number\":7}\n"));
  EXPECT_THAT(fallback.text(),
              AllOf(HasSubstr("mkdir"), HasSubstr("{\"number\":7}")));
}

TEST(I4RecordFolderMissing, AFileInItsPlaceIsToldAndSurvived) {
  TemporaryFolder folder;
  FallbackFile fallback;
  std::ofstream(folder / "records") << "mine";
  RecordSink sink(
      {.folder = folder / "records", .fallback_fd = fallback.get()});
  EXPECT_FALSE(sink.append_record("{}\n"));
  EXPECT_THAT(fallback.text(), HasSubstr("Not a directory"));
  EXPECT_EQ(content_of(folder / "records"), "mine");
}

TEST(I4RecordFolderMissing, AFolderRemovedMeanwhileIsMadeAgain) {
  TemporaryFolder folder;
  RecordSink sink({.folder = folder / "records"});
  ASSERT_TRUE(sink.append_record("{\"number\":1}\n"));
  fs::remove_all(folder / "records");
  EXPECT_TRUE(sink.append_record("{\"number\":2}\n"));
  EXPECT_EQ(content_of(sink.records_path()), "{\"number\":2}\n");
}

TEST(RecordSink, ItsFailureIsANoteForTheNextRecordOnce) {
  TemporaryFolder folder;
  FallbackFile fallback;
  fs::create_symlink("/dev/full", folder / "records.jsonl");
  RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
  sink.append_record("{}\n");
  SinkNotes notes = sink.take_notes();
  ASSERT_EQ(notes.views().size(), 1U);
  EXPECT_EQ(notes.views()[0],
            "cannot append to records.jsonl: write: No space left on device");
  EXPECT_TRUE(sink.take_notes().views().empty());
}

TEST(RecordSink, OnlyTheFirstFailuresAreKept) {
  FallbackFile fallback;
  RecordSink sink({.folder = "/proc/none", .fallback_fd = fallback.get()});
  for (int i = 0; i < 100; ++i) sink.append_record("{}\n");
  EXPECT_EQ(sink.failures(), 100U);
  EXPECT_EQ(sink.take_notes().views().size(), SinkNotes::kMax);
}

TEST(RecordSink, AClosedStderrDoesNotEndTheProcess) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  RecordSink sink({.folder = "/proc/none", .fallback_fd = ends[1]});
  EXPECT_FALSE(sink.append_record("{}\n"));
  close(ends[1]);
}

TEST(RecordSink, AStderrThatNobodyReadsIsGivenUpOn) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  RecordSink sink({.folder = "/proc/none", .fallback_fd = ends[1]});
  EXPECT_LT(time_of([&] { sink.append_record(line_with(1, 200'000)); }),
            std::chrono::seconds(2));
  close(ends[0]);
  close(ends[1]);
}

TEST(RecordSink, AFifoInPlaceOfTheFileDoesNotBlock) {
  TemporaryFolder folder;
  FallbackFile fallback;
  ASSERT_EQ(mkfifo((folder / "records.jsonl").c_str(), 0600), 0);
  RecordSink sink({.folder = folder.path(), .fallback_fd = fallback.get()});
  EXPECT_LT(time_of([&] { sink.append_record(line_with(1, 200'000)); }),
            std::chrono::seconds(2));
}

TEST(I5RecordsWithoutEnd, TheFirstStayAndTheFileStaysBounded) {
  TemporaryFolder folder;
  FallbackFile fallback;
  RecordSink sink({.folder = folder.path(),
                   .max_file_bytes = 10'000,
                   .fallback_fd = fallback.get()});
  for (int i = 0; i < 10'000; ++i) sink.append_record(line_with(i, 900));
  const auto lines = lines_in(sink.records_path());
  EXPECT_EQ(lines.size(), 10U);
  EXPECT_EQ(number_in(lines.back()), 9);
  EXPECT_EQ(sink.failures(), 9'990U);
  const std::string told = fallback.text();
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1);
}

TEST(I6SeveralWriters, AStoppedLockHolderDelaysALineForABoundedTime) {
  TemporaryFolder folder;
  RecordSink sink({.folder = folder.path()});
  ASSERT_TRUE(sink.append_record(line_with(1, 10)));
  const pid_t holder = fork();
  if (holder == 0) {
    const int file = open(sink.records_path().c_str(), O_RDWR);
    flock(file, LOCK_EX);
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  waitpid(holder, &status, WUNTRACED);
  const auto waited =
      time_of([&] { EXPECT_TRUE(sink.append_record(line_with(2, 10))); });
  EXPECT_GE(waited, std::chrono::milliseconds(100));
  EXPECT_LT(waited, std::chrono::seconds(5));
  SinkNotes notes = sink.take_notes();
  ASSERT_EQ(notes.views().size(), 1U);
  EXPECT_THAT(std::string(notes.views()[0]), HasSubstr("without its lock"));
  EXPECT_EQ(lines_in(sink.records_path()).size(), 2U);
  kill(holder, SIGKILL);
  waitpid(holder, &status, 0);
}

TEST(I6SeveralWriters, ProcessesAndThreadsLeaveEveryLineWhole) {
  constexpr int kProcesses = 4;
  constexpr int kThreads = 4;
  constexpr int kLines = 60;
  TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      RecordSink sink({.folder = folder / "records",
                       .lock_wait = std::chrono::seconds(30)});
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&sink, process, thread] {
          for (int i = 0; i < kLines; ++i) {
            sink.append_record(
                line_with((process * kThreads + thread) * kLines + i, 9'000));
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
  std::set<int> numbers;
  for (const auto& line : lines_in(folder / "records/records.jsonl")) {
    numbers.insert(number_in(line));
  }
  EXPECT_EQ(numbers.size(), std::size_t{kProcesses * kThreads * kLines});
}

TEST(RecordsFolder, IsNamedByTheVariableElseByTheCaller) {
  unsetenv("MISHAP_RECORDS");
  EXPECT_EQ(records_folder("mine"), "mine");
  setenv("MISHAP_RECORDS", "/somewhere", 1);
  EXPECT_EQ(records_folder("mine"), "/somewhere");
  setenv("MISHAP_RECORDS", "", 1);
  EXPECT_EQ(records_folder("mine"), "mine");
  unsetenv("MISHAP_RECORDS");
}

TEST(ProbeFolder, FindsAFolderGoodAndLeavesNoTrace) {
  TemporaryFolder folder;
  EXPECT_EQ(probe_folder(folder.path()), std::nullopt);
  EXPECT_EQ(probe_folder(folder / "not/there/yet"), std::nullopt);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ProbeFolder, SaysInOneSentenceWhatIsWrongWhereAndWhatToDo) {
  TemporaryFolder folder;
  std::ofstream(folder / "file") << "mine";
  EXPECT_EQ(probe_folder(folder / "file"),
            "the records folder " + (folder / "file") +
                " is a file; name another one with --records or "
                "MISHAP_RECORDS");
  EXPECT_THAT(probe_folder(folder / "file/below").value_or(""),
              HasSubstr("cannot be made: Not a directory"));
  EXPECT_THAT(probe_folder("/proc/mishap").value_or(""),
              HasSubstr("the records folder /proc/mishap cannot be made"));
  EXPECT_THAT(probe_folder("/proc").value_or(""),
              HasSubstr("the records folder /proc cannot be written"));
}

TEST(ProbeFolder, FindsAFullDisk) {
  TemporaryFolder folder;
  const FileSizeLimit limit(100);
  EXPECT_THAT(probe_folder(folder.path()).value_or(""),
              HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace mishap::collector
