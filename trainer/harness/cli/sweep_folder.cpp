#include <fcntl.h>
#include <mishap/collector/sink.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/sweep_folder.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace mishap::cli {

SweepFolder::SweepFolder(std::string folder, std::chrono::milliseconds wait)
    : folder_(std::move(folder)) {
  if (const auto problem = collector::probe_folder(folder_)) {
    throw InputError(problem->substr(0, problem->find("; ")) +
                     "; name another one with --out");
  }
  const std::filesystem::path path = folder_;
  if (std::filesystem::exists(path / "records.jsonl") &&
      !std::filesystem::exists(path / "cases.jsonl")) {
    throw InputError("the folder " + folder_ +
                     " holds records that are no sweep's; name another one "
                     "with --out");
  }
  is_new_ = std::filesystem::create_directories(path);
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A file system without locks cannot tell; the sweep goes on there.
  if (lock_ >= 0 && !lock_within(wait)) {
    close(lock_);
    throw InputError("another sweep is writing to " + folder_ +
                     "; name another folder with --out");
  }
}

bool SweepFolder::lock_within(std::chrono::milliseconds wait) const {
  const auto end = std::chrono::steady_clock::now() + wait;
  while (flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (std::chrono::steady_clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

SweepFolder::~SweepFolder() {
  if (is_new_) {
    // Of a sweep that did not begin nothing stays: only an empty one goes.
    std::error_code error;
    std::filesystem::remove(folder_, error);
  }
  if (lock_ >= 0) {
    close(lock_);
  }
}

void SweepFolder::clear() const {
  for (const char* name : {"records.jsonl", "runs.jsonl", "summary.json"}) {
    std::filesystem::remove(std::filesystem::path(folder_) / name);
  }
}

}  // namespace mishap::cli
