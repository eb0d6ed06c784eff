#include <fcntl.h>
#include <mishap/collector/io/open_record_file.h>
#include <mishap/collector/io/reserved_descriptor.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

namespace mishap::collector {
namespace {

constexpr mode_t kFileMode = 0644;
// O_NONBLOCK: a FIFO must not hold us up; on a regular file it means nothing.
constexpr int kFlags = O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

OpenedFile refused(const char* what, int error) noexcept {
  return {.failed = what, .error = error};
}

int open_with(const char* path, int flags) noexcept {
  int file = -1;
  do {
    file = open(path, flags, kFileMode);
  } while (file < 0 && errno == EINTR);
  if (file < 0 && (errno == EMFILE || errno == ENFILE) &&
      release_reserved_descriptor()) {
    file = open(path, flags, kFileMode);
  }
  return file;
}

bool is_trusted(uid_t owner) noexcept {
  return owner == geteuid() || owner == 0;
}

bool link_is_trusted(const char* path) noexcept {
  struct stat status {};
  return lstat(path, &status) == 0 &&
         (!S_ISLNK(status.st_mode) || is_trusted(status.st_uid));
}

// Whether anybody may put files into the folder that holds `path`.
bool lies_in_open_folder(std::string_view path) noexcept {
  std::array<char, PATH_MAX> folder{};
  const std::size_t slash = path.rfind('/');
  const std::string_view name =
      slash == std::string_view::npos ? "." : path.substr(0, slash + 1);
  if (name.size() >= folder.size()) return true;
  std::copy(name.begin(), name.end(), folder.begin());
  struct stat status {};
  return stat(folder.data(), &status) != 0 || (status.st_mode & S_IWOTH) != 0;
}

OpenedFile only_with_reader(const char* path, int both_ways) noexcept {
  // Opened both ways we would be the reader, and the line would be lost.
  close(both_ways);
  const int file = open_with(path, O_WRONLY | kFlags);
  if (file < 0) {
    return refused(errno == ENXIO ? "open of a FIFO without a reader" : "open",
                   errno);
  }
  return {.descriptor = file};
}

}  // namespace

OpenedFile open_record_file(const char* path) noexcept {
  int file = open_with(path, O_RDWR | O_CREAT | O_NOFOLLOW | kFlags);
  if (file < 0 && errno == ELOOP) {
    if (!link_is_trusted(path)) {
      return refused("open of another user's symbolic link", EACCES);
    }
    file = open_with(path, O_RDWR | O_CREAT | kFlags);
  }
  if (file < 0) return refused("open", errno);
  struct stat status {};
  if (fstat(file, &status) != 0) {
    const int error = errno;
    close(file);
    return refused("fstat", error);
  }
  if (S_ISFIFO(status.st_mode)) return only_with_reader(path, file);
  if (!is_trusted(status.st_uid) && lies_in_open_folder(path)) {
    close(file);
    return refused("open of another user's file in a folder for all", EACCES);
  }
  return {.descriptor = file, .is_regular = S_ISREG(status.st_mode)};
}

}  // namespace mishap::collector
