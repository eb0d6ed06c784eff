#include <fcntl.h>
#include <mishap/trainer/harness/program/job_place.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace mishap::program {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "job-";
constexpr const char* kLock = "/alive";
constexpr auto kLongestLock = std::chrono::seconds(15);

}  // namespace

JobPlace::JobPlace(const std::string& scratch, std::size_t number)
    : folder_(scratch + '/' + kPrefix + std::to_string(number)) {
  fs::create_directories(view());
  fs::create_directory(bench());
  lock_ = open((folder_ + kLock).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) {
    throw std::system_error(errno, std::generic_category(), folder_);
  }
  flock(lock_, LOCK_EX);
}

JobPlace::~JobPlace() {
  if (lock_ >= 0) {
    close(lock_);
  }
}

JobPlace::JobPlace(JobPlace&& other) noexcept
    : folder_(std::move(other.folder_)),
      lock_(std::exchange(other.lock_, -1)) {}

void wait_for_jobs(const std::string& scratch) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(scratch, error)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) {
      continue;
    }
    const std::string path = entry.path().string() + kLock;
    const int lock = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const auto end = std::chrono::steady_clock::now() + kLongestLock;
    while (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (lock >= 0) {
      close(lock);
    }
  }
}

}  // namespace mishap::program
