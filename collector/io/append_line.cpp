#include <fcntl.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/io/append_line.h>
#include <mishap/collector/io/quiet_signals.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>

namespace mishap::collector {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kFolderMode = 0755;

AppendResult failure(const char* call, int error = errno) noexcept {
  return {.failed = call, .error = error};
}

template <typename Call>
auto retry(Call call) noexcept {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

int open_file(const char* path) noexcept {
  // A FIFO without a reader must not hold us up, hence O_NONBLOCK; on a regular
  // file it means nothing.
  constexpr int kFlags =
      O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  return retry([path] { return open(path, kFlags, kFileMode); });
}

enum class Lock { kHeld, kBusy, kUnsupported };

// flock() without LOCK_NB would wait for ever for a writer that was stopped.
Lock lock_within(int file, std::chrono::milliseconds limit) noexcept {
  constexpr timespec kPause{0, 500'000};
  const Clock& clock = Clock::system();
  const std::int64_t end =
      clock.steady_nano() + std::chrono::nanoseconds(limit).count();
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return Lock::kUnsupported;
    if (clock.steady_nano() >= end) return Lock::kBusy;
    nanosleep(&kPause, nullptr);
  }
  return Lock::kHeld;
}

bool ends_in_newline(int file, off_t size) noexcept {
  char last = '\n';
  if (size == 0) return true;
  return retry([&] { return pread(file, &last, 1, size - 1); }) == 1 &&
         last == '\n';
}

AppendResult write_whole(int file, std::string_view line,
                         bool newline_first) noexcept {
  char newline = '\n';
  const std::array<iovec, 2> parts = {
      iovec{&newline, newline_first ? 1U : 0U},
      iovec{const_cast<char*>(line.data()), line.size()}};
  const std::size_t whole = parts[0].iov_len + parts[1].iov_len;
  const ssize_t written = retry([&] {
    return writev(file, parts.data(), static_cast<int>(parts.size()));
  });
  if (written < 0) return failure("write");
  if (static_cast<std::size_t>(written) < whole)
    return failure("write", ENOSPC);
  return {};
}

AppendResult append_to_regular(int file, std::string_view line,
                               const AppendRule& rule) noexcept {
  const Lock lock = lock_within(file, rule.lock_wait);
  struct stat status {};
  if (fstat(file, &status) != 0) return failure("fstat");
  if (status.st_size + static_cast<off_t>(line.size()) > rule.max_file_bytes) {
    return failure("limit", EFBIG);
  }
  AppendResult result =
      write_whole(file, line, !ends_in_newline(file, status.st_size));
  result.without_lock = lock == Lock::kBusy;
  if (!result.ok()) {
    // Without the lock the bytes behind ours may be another writer's record.
    if (lock == Lock::kHeld &&
        retry([&] { return ftruncate(file, status.st_size); }) != 0) {
      result.failed = "write, and ftruncate";
    }
    return result;
  }
  if (rule.fsync && retry([file] { return fsync(file); }) != 0) {
    return failure("fsync");
  }
  return result;
}

}  // namespace

int make_folders(std::string_view path) noexcept {
  std::array<char, PATH_MAX> text;
  if (path.empty()) return ENOENT;
  if (path.size() >= text.size()) return ENAMETOOLONG;
  std::copy(path.begin(), path.end(), text.begin());
  text[path.size()] = '\0';
  for (std::size_t i = 1; i <= path.size(); ++i) {
    if (text[i] != '/' && text[i] != '\0') continue;
    const char separator = text[i];
    text[i] = '\0';
    if (mkdir(text.data(), kFolderMode) != 0 && errno != EEXIST) {
      const int error = errno;
      struct stat status {};
      // A read-only file system says EROFS, a root of others EACCES, also for
      // folders that are there.
      if (stat(text.data(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        return error;
      }
    }
    text[i] = separator;
  }
  return 0;
}

AppendResult append_line(const char* path, std::string_view line,
                         const AppendRule& rule) noexcept {
  const QuietSignals quiet;
  int file = open_file(path);
  if (file < 0 && errno == ENOENT) {
    const std::string_view whole = path;
    const std::size_t slash = whole.rfind('/');
    if (slash != std::string_view::npos) {
      if (const int error = make_folders(whole.substr(0, slash))) {
        return failure("mkdir", error);
      }
    }
    file = open_file(path);
  }
  if (file < 0) return failure("open");
  struct stat status {};
  AppendResult result;
  if (fstat(file, &status) != 0) {
    result = failure("fstat");
  } else if (S_ISREG(status.st_mode)) {
    result = append_to_regular(file, line, rule);
  } else {
    result = write_whole(file, line, false);
  }
  // Network file systems report a full disk here.
  if (close(file) != 0 && errno != EINTR && result.ok()) {
    return failure("close");
  }
  return result;
}

}  // namespace mishap::collector
