#include <fcntl.h>
#include <mishap/trainer/harness/capture/process_sample.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
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

// The entries of a directory, dots apart; nothing when there are very many: a
// listing must not take long.
std::optional<std::int64_t> count_entries(const char* path) noexcept {
  constexpr std::int64_t kMost = 65'536;
  // Of the kernel's directory entry.
  constexpr std::size_t kSizeOffset = 16;
  constexpr std::int64_t kDots = 2;
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return std::nullopt;
  }
  std::array<char, 4096> entries;
  std::int64_t count = 0;
  long got = 1;
  while (got > 0 && count <= kMost) {
    got = syscall(SYS_getdents64, folder, entries.data(), entries.size());
    for (long at = 0; at < got; ++count) {
      std::uint16_t size = 0;
      std::memcpy(&size, entries.data() + at + kSizeOffset, sizeof size);
      at += size;
    }
  }
  close(folder);
  return got == 0 ? std::optional(count - kDots) : std::nullopt;
}

// Since Linux 6.2 the size of the directory is the number of descriptors;
// earlier kernels say 0.
std::optional<std::int64_t> count_descriptors() noexcept {
  struct stat info {};
  if (stat("/proc/self/fd", &info) != 0) {
    return std::nullopt;
  }
  if (info.st_size > 0) {
    return info.st_size;
  }
  // One is the listing's own.
  const auto counted = count_entries("/proc/self/fd");
  return counted ? std::optional(*counted - 1) : std::nullopt;
}

std::optional<std::int64_t> peak_resident_bytes() noexcept {
  constexpr std::int64_t kKilo = 1024;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) {
    return std::nullopt;
  }
  return std::int64_t{usage.ru_maxrss} * kKilo;
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
  // The kernel adds up the peak less often than what is resident now.
  process.peak_rss_bytes = std::max(peak_resident_bytes(), process.rss_bytes);
  process.threads = count_threads();
  process.fds = count_descriptors();
  return process;
}

}  // namespace mishap
