// Eight processes of four threads append a thousand records each to one file,
// while the disk is filled up and freed again and writers are stopped with the
// lock in their hands. Afterwards every record has to stand in the file, or
// with its reason on its process's stderr, and every line of the file has to be
// JSON. The last line printed is the figure; the status is 1 when it is short.
#include <fcntl.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/record_writer.h>
#include <mishap/collector/sink.h>
#include <mishap/collector/uuid.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "temporary_folder.h"

namespace mishap::collector {
namespace {

constexpr int kProcesses = 8;
constexpr int kThreads = 4;
constexpr int kRecords = 1'000;
constexpr long kDiskBytes = 512L << 20;
// So that the work lasts long enough to be disturbed many times.
constexpr int kPauseMillis = 5;

// What the writers share with the one that disturbs them.
struct Tally {
  std::atomic<int> fallbacks = 0;
  std::atomic<int> without_lock = 0;
};

void pause_for(int millis) {
  std::this_thread::sleep_for(std::chrono::milliseconds(millis));
}

std::string number_of(int process, int thread, int record) {
  return std::to_string((process * kThreads + thread) * kRecords + record);
}

std::size_t write_one(const std::string& number, const Uuid& run,
                      std::span<char> buffer) {
  const Uuid id = make_uuid();
  const std::string message =
      number + ' ' + std::string(std::stoul(number) * 37 % 3'500, 'm');
  RecordException exception;
  exception.type = "std::runtime_error";
  exception.message = message;
  Record record;
  record.record_id = id.view();
  record.run_id = run.view();
  record.time_unix_nano = Clock::system().unix_nano();
  record.steady_nano = Clock::system().steady_nano();
  record.sequence = next_sequence();
  record.exceptions = {&exception, 1};
  return write_record(record, buffer);
}

void write_records(RecordSink& sink, int process, int thread, Tally& tally) {
  const Uuid run = make_uuid();
  std::string buffer(kRecordBufferBytes, '\0');
  for (int i = 0; i < kRecords; ++i) {
    const std::size_t size =
        write_one(number_of(process, thread, i), run, buffer);
    pause_for(kPauseMillis);
    tally.fallbacks +=
        !sink.append_record(std::string_view(buffer).substr(0, size));
    SinkNotes notes = sink.take_notes();
    for (const std::string_view note : notes.views()) {
      tally.without_lock +=
          note.find("without its lock") != std::string_view::npos;
    }
  }
}

[[noreturn]] void be_a_writer(const std::string& folder, int process,
                              int fallback, Tally& tally) {
  RecordSink sink({.folder = folder, .fallback_fd = fallback});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back(
        [&, thread] { write_records(sink, process, thread, tally); });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(0);
}

// A disk of its own that can be filled; where nobody may mount one, a limit on
// the size of files, which ends a write in the middle just as well.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) : folder_(folder) {
    const uid_t user = getuid();
    const bool separate =
        unshare(CLONE_NEWNS) == 0 ||
        (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
         write_to("/proc/self/setgroups", "deny") &&
         write_to("/proc/self/uid_map", "0 " + std::to_string(user) + " 1"));
    const std::string options = "size=" + std::to_string(kDiskBytes);
    is_mounted_ =
        separate &&
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("small", folder.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~SmallDisk() {
    if (is_mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const char* kind() const { return is_mounted_ ? "tmpfs" : "RLIMIT_FSIZE"; }

  // Leaves a few bytes, so that some line breaks in its middle.
  void fill(const std::vector<pid_t>& writers) {
    if (!is_mounted_) {
      std::error_code error;
      const auto size =
          std::filesystem::file_size(folder_ + "/records.jsonl", error);
      limit_to(writers, error ? 0 : static_cast<rlim_t>(size) + 1'500);
      return;
    }
    const int file = open((folder_ + "/ballast").c_str(),
                          O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    off_t at = 0;
    for (off_t step = 16L << 20; step >= 4'096;) {
      posix_fallocate(file, at, step) == 0 ? at += step : step /= 2;
    }
    close(file);
  }
  void free(const std::vector<pid_t>& writers) {
    if (is_mounted_) {
      unlink((folder_ + "/ballast").c_str());
    } else {
      limit_to(writers, RLIM_INFINITY);
    }
  }

 private:
  static bool write_to(const char* path, const std::string& text) {
    std::ofstream file(path);
    return static_cast<bool>(file << text << std::flush);
  }
  static void limit_to(const std::vector<pid_t>& writers, rlim_t bytes) {
    for (const pid_t writer : writers) {
      const rlimit limit{bytes, RLIM_INFINITY};
      prlimit(writer, RLIMIT_FSIZE, &limit, nullptr);
    }
  }

  std::string folder_;
  bool is_mounted_ = false;
};

// Takes the lock as a writer does, and is stopped with it.
void hold_the_lock_stopped(const std::string& path, int millis) {
  const pid_t holder = fork();
  if (holder == 0) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file >= 0 && flock(file, LOCK_EX) == 0) raise(SIGSTOP);
    _exit(0);
  }
  waitpid(holder, nullptr, WUNTRACED);
  pause_for(millis);
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
}

struct Disturbance {
  int full = 0;
  int stopped = 0;
};

bool is_at_work(std::vector<pid_t>& writers) {
  std::erase_if(writers, [](pid_t writer) {
    return waitpid(writer, nullptr, WNOHANG) == writer;
  });
  return !writers.empty();
}

Disturbance disturb(SmallDisk& disk, std::vector<pid_t> writers,
                    const std::string& path) {
  std::mt19937 random(4);
  Disturbance done;
  while (is_at_work(writers)) {
    const pid_t victim = writers[random() % writers.size()];
    kill(victim, SIGSTOP);
    pause_for(120);
    disk.fill(writers);
    ++done.full;
    pause_for(15);
    kill(victim, SIGCONT);
    disk.free(writers);
    ++done.stopped;
    pause_for(30);
    if (!is_at_work(writers)) break;
    hold_the_lock_stopped(path, 120);
    ++done.stopped;
    pause_for(30);
  }
  return done;
}

struct Count {
  std::set<int> numbers;
  int lines = 0;
  int valid = 0;
  int twice = 0;

  void add(std::string_view line) {
    // What was taken back with others behind it is a line of spaces.
    if (line.find_first_not_of(' ') == std::string_view::npos) return;
    ++lines;
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (!record.is_object() || !record.contains("record_id")) return;
    ++valid;
    const std::string message = record["exceptions"][0]["message"];
    twice += !numbers.insert(std::stoi(message)).second;
  }
};

Count count_file(const std::string& path) {
  Count count;
  for (const std::string& line : lines_in(path)) count.add(line);
  return count;
}

Count count_fallbacks(const std::string& folder) {
  constexpr std::string_view kBefore = "this line was: ";
  Count count;
  for (int process = 0; process < kProcesses; ++process) {
    for (const std::string& line :
         lines_in(folder + "/stderr-" + std::to_string(process))) {
      const std::size_t at = line.find(kBefore);
      if (at == std::string::npos) {
        ++count.lines;
      } else {
        count.add(std::string_view(line).substr(at + kBefore.size()));
      }
    }
  }
  return count;
}

int run() {
  const TemporaryFolder root;
  const std::string folder = root / "records";
  std::filesystem::create_directory(folder);
  SmallDisk disk(folder);
  auto* const tally =
      static_cast<Tally*>(mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  new (tally) Tally;
  std::vector<pid_t> writers;
  for (int process = 0; process < kProcesses; ++process) {
    const int fallback =
        open((root / ("stderr-" + std::to_string(process))).c_str(),
             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const pid_t writer = fork();
    if (writer == 0) be_a_writer(folder, process, fallback, *tally);
    close(fallback);
    writers.push_back(writer);
  }
  const std::string path = folder + "/records.jsonl";
  const Disturbance done = disturb(disk, writers, path);
  const Count in_file = count_file(path);
  const Count on_stderr = count_fallbacks(root.path());
  std::set<int> all = in_file.numbers;
  all.insert(on_stderr.numbers.begin(), on_stderr.numbers.end());
  constexpr int kAll = kProcesses * kThreads * kRecords;
  const bool disturbed =
      tally->fallbacks > 0 && tally->without_lock > 0 && done.full > 0;
  const bool good = all.size() == kAll && in_file.valid == in_file.lines &&
                    on_stderr.valid == on_stderr.lines && in_file.twice == 0 &&
                    disturbed;
  std::printf(
      "disk full %d times (%s), %d writers stopped, %d lines appended "
      "without the lock\n",
      done.full, disk.kind(), done.stopped, tally->without_lock.load());
  if (!disturbed) std::printf("the disturbance never met a writer\n");
  std::printf(
      "writers: %zu of %d records accounted for: %zu in the file, %zu "
      "on stderr; %d of %d lines valid\n",
      all.size(), kAll, in_file.numbers.size(), on_stderr.numbers.size(),
      in_file.valid + on_stderr.valid, in_file.lines + on_stderr.lines);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace mishap::collector

int main() { return mishap::collector::run(); }
