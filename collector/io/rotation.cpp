#include <fcntl.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/io/rotation.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace mishap::collector {
namespace {

// `path` itself for 0, else `path.number`; empty when that is too long.
class RotatedName {
 public:
  RotatedName(const char* path, int number) noexcept {
    const std::size_t size = std::strlen(path);
    if (size + 4 > text_.size()) return;
    char* end = std::copy_n(path, size, text_.data());
    if (number > 0) {
      *end++ = '.';
      std::to_chars(end, text_.data() + text_.size() - 1, number);
    }
  }
  const char* get() const noexcept { return text_.data(); }

 private:
  std::array<char, PATH_MAX> text_{};
};

bool is_old(std::chrono::seconds age, int file) noexcept {
  struct statx status {};
  if (statx(file, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0 ||
      (status.stx_mask & STATX_BTIME) == 0) {
    return false;
  }
  constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
  const std::int64_t now = Clock::system().unix_nano() / kNanosPerSecond;
  return now - status.stx_btime.tv_sec >= age.count();
}

}  // namespace

bool is_due(const Rotation& rule, int file, const struct stat& status,
            std::size_t line_bytes) noexcept {
  if (status.st_size == 0) return false;
  if (rule.bytes > 0 &&
      status.st_size + static_cast<off_t>(line_bytes) > rule.bytes) {
    return true;
  }
  return rule.age.count() > 0 && is_old(rule.age, file);
}

bool was_put_aside(const char* path, const struct stat& status) noexcept {
  struct stat named {};
  return stat(path, &named) != 0 || named.st_ino != status.st_ino ||
         named.st_dev != status.st_dev;
}

bool put_aside(const char* path, const Rotation& rule) noexcept {
  const int files = std::clamp(rule.files, 1, Rotation::kMaxFiles);
  // Nothing moves when the file in use is a link that cannot be renamed away
  // from its target, or its folder takes no names.
  struct stat status {};
  if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  for (int number = files; number > 0; --number) {
    const bool moved = rename(RotatedName(path, number - 1).get(),
                              RotatedName(path, number).get()) == 0;
    if (number == 1) return moved;
  }
  return false;
}

std::vector<std::string> with_rotated(const std::string& path) {
  std::vector<std::string> found;
  for (int number = Rotation::kMaxFiles; number >= 0; --number) {
    const RotatedName name(path.c_str(), number);
    struct stat status {};
    if (stat(name.get(), &status) == 0) found.emplace_back(name.get());
  }
  return found;
}

}  // namespace mishap::collector
