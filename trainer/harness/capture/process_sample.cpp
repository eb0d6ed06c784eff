#include <fcntl.h>
#include <mishap/trainer/harness/capture/process_sample.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace mishap {
namespace {

// The directory's link count is its subdirectories plus two: one stat instead
// of a listing.
std::optional<std::int64_t> count_threads() noexcept {
  struct stat info {};
  if (stat("/proc/self/task", &info) != 0 || info.st_nlink < 3) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(info.st_nlink) - 2;
}

// Since Linux 6.2 the size of the directory is the number of descriptors;
// earlier kernels say 0.
std::optional<std::int64_t> count_descriptors() noexcept {
  struct stat info {};
  if (stat("/proc/self/fd", &info) != 0 || info.st_size == 0) {
    return std::nullopt;
  }
  return info.st_size;
}

std::optional<std::int64_t> resident_bytes() noexcept {
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return std::nullopt;
  }
  std::array<char, 128> text{};
  const ssize_t size = read(fd, text.data(), text.size());
  close(fd);
  std::string_view rest(text.data(), size > 0 ? static_cast<size_t>(size) : 0);
  rest.remove_prefix(std::min(rest.size(), rest.find(' ') + 1));
  std::int64_t pages = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), pages);
  if (error != std::errc()) {
    return std::nullopt;
  }
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

collector::RecordProcess sample_process() noexcept {
  collector::RecordProcess process;
  process.pid = getpid();
  process.rss_bytes = resident_bytes();
  process.threads = count_threads();
  process.fds = count_descriptors();
  return process;
}

}  // namespace mishap
