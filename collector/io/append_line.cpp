#include <fcntl.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/io/append_line.h>
#include <mishap/collector/io/open_record_file.h>
#include <mishap/collector/io/quiet_signals.h>
#include <mishap/collector/io/reserved_descriptor.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <optional>

namespace mishap::collector {
namespace {

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

AppendResult write_whole(int file, std::string_view line, bool newline_first,
                         ssize_t& written) noexcept {
  char newline = '\n';
  const std::array<iovec, 2> parts = {
      iovec{&newline, newline_first ? 1U : 0U},
      iovec{const_cast<char*>(line.data()), line.size()}};
  const std::size_t whole = parts[0].iov_len + parts[1].iov_len;
  written = retry([&] {
    return writev(file, parts.data(), static_cast<int>(parts.size()));
  });
  if (written < 0) return failure("write");
  if (static_cast<std::size_t>(written) < whole)
    return failure("write", ENOSPC);
  return {};
}

// Turns the bytes into spaces, which readers pass over. Their room is taken
// already, so that a full disk does not matter.
bool blank(const char* path, int file, off_t begin, off_t end) noexcept {
  std::array<char, 512> spaces;
  spaces.fill(' ');
  // The one at hand appends wherever it is told to write.
  const int other = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  struct stat ours {};
  struct stat named {};
  bool done = other >= 0 && fstat(file, &ours) == 0 &&
              fstat(other, &named) == 0 && ours.st_ino == named.st_ino &&
              ours.st_dev == named.st_dev;
  while (done && begin < end) {
    const auto size = static_cast<std::size_t>(
        std::min<off_t>(end - begin, static_cast<off_t>(spaces.size())));
    const ssize_t written =
        retry([&] { return pwrite(other, spaces.data(), size, begin); });
    done = written > 0;
    begin += done ? written : 0;
  }
  if (other >= 0) close(other);
  return done;
}

// The file as it is to be appended to.
class Appended {
 public:
  Appended(int file, std::chrono::milliseconds lock_wait) noexcept
      : file_(file),
        lock_(lock_within(file, lock_wait)),
        others_wait_until_(now() +
                           std::chrono::nanoseconds(lock_wait).count()) {}
  ~Appended() {
    // Said, since a child forked meanwhile has the descriptor too and would
    // keep the lock for as long as it lives.
    if (lock_ == Lock::kHeld) flock(file_, LOCK_UN);
  }
  Appended(const Appended&) = delete;
  Appended& operator=(const Appended&) = delete;

  bool is_locked() const noexcept { return lock_ == Lock::kHeld; }
  bool is_busy() const noexcept { return lock_ == Lock::kBusy; }
  /// Locked, and not for so long that others do without the lock by now.
  bool is_fresh() const noexcept {
    return is_locked() && now() < others_wait_until_;
  }

 private:
  static std::int64_t now() noexcept { return Clock::system().steady_nano(); }

  int file_;
  Lock lock_;
  std::int64_t others_wait_until_;
};

// Takes a line back of which only the beginning was written. Where that lies
// is asked of the descriptor: others that did without the lock, while its
// holder was stopped, may have written before it and behind it. (Between the
// question and the cut nobody gets a line onto a disk that is full.)
bool take_back(const char* path, int file, const Appended& appended,
               ssize_t written) noexcept {
  if (written <= 0) return true;
  const off_t end = lseek(file, 0, SEEK_CUR);
  if (end < written) return false;
  struct stat status {};
  if (appended.is_fresh() && fstat(file, &status) == 0 &&
      status.st_size == end &&
      retry([&] { return ftruncate(file, end - written); }) == 0) {
    return true;
  }
  return blank(path, file, end - written, end);
}

AppendResult append_locked(const char* path, int file, const Appended& appended,
                           off_t size, std::string_view line,
                           const AppendRule& rule) noexcept {
  if (size + static_cast<off_t>(line.size()) > rule.max_file_bytes) {
    return failure("limit", EFBIG);
  }
  ssize_t written = 0;
  AppendResult result =
      write_whole(file, line, !ends_in_newline(file, size), written);
  result.without_lock = appended.is_busy();
  if (!result.ok()) {
    if (!take_back(path, file, appended, written)) {
      result.failed = "write, and taking its beginning back";
    }
    return result;
  }
  if (rule.fsync && retry([file] { return fsync(file); }) != 0) {
    return failure("fsync");
  }
  return result;
}

// Nothing when the file was put aside, by us or by somebody else, and the next
// one is to be opened.
std::optional<AppendResult> append_to_regular(const char* path, int file,
                                              std::string_view line,
                                              const AppendRule& rule,
                                              bool may_move_on) noexcept {
  const Appended appended(file, rule.lock_wait);
  struct stat status {};
  if (fstat(file, &status) != 0) return failure("fstat");
  if (may_move_on && appended.is_locked()) {
    if (was_put_aside(path, status)) return std::nullopt;
    if (is_due(rule.rotation, file, status, line.size()) &&
        put_aside(path, rule.rotation)) {
      return std::nullopt;
    }
  }
  return append_locked(path, file, appended, status.st_size, line, rule);
}

OpenedFile open_with_folder(const char* path) noexcept {
  OpenedFile file = open_record_file(path);
  if (file.descriptor >= 0 || file.error != ENOENT) return file;
  const std::string_view whole = path;
  const std::size_t slash = whole.rfind('/');
  if (slash != std::string_view::npos) {
    if (const int error = make_folders(whole.substr(0, slash))) {
      return {.failed = "mkdir", .error = error};
    }
  }
  return open_record_file(path);
}

// As above: nothing means once more.
std::optional<AppendResult> try_append(const char* path, std::string_view line,
                                       const AppendRule& rule,
                                       bool may_move_on) noexcept {
  const OpenedFile file = open_with_folder(path);
  if (file.descriptor < 0) return failure(file.failed, file.error);
  ssize_t written = 0;
  std::optional<AppendResult> result =
      file.is_regular
          ? append_to_regular(path, file.descriptor, line, rule, may_move_on)
          : write_whole(file.descriptor, line, false, written);
  // Network file systems report a full disk here.
  if (close(file.descriptor) != 0 && errno != EINTR && result && result->ok()) {
    return failure("close");
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
  constexpr int kMoves = 8;
  const QuietSignals quiet;
  std::optional<AppendResult> result;
  for (int move = 1; !result; ++move) {
    result = try_append(path, line, rule, move < kMoves);
  }
  reserve_descriptor();
  return *result;
}

}  // namespace mishap::collector
