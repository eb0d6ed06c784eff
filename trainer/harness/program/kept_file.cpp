#include <fcntl.h>
#include <linux/fs.h>
#include <mishap/trainer/harness/program/content_hash.h>
#include <mishap/trainer/harness/program/kept_file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

namespace mishap::program {
namespace {

// Longer than the kernel's clock for files takes to move on.
constexpr std::int64_t kRecentNanos = 20'000'000;
constexpr std::size_t kBlock = 1 << 16;

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags, mode_t mode = 0600)
      : number_(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode)) {}
  ~OpenFile() {
    if (number_ >= 0) {
      close(number_);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// A full block unless the file ends there; -1 when it can't be read.
  ssize_t read_block(std::vector<char>& block) const {
    std::size_t size = 0;
    while (size < block.size()) {
      const ssize_t got =
          read(number_, block.data() + size, block.size() - size);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        return -1;
      }
      if (got == 0) {
        break;
      }
      size += static_cast<std::size_t>(got);
    }
    return static_cast<ssize_t>(size);
  }
  bool write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t wrote = write(number_, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) {
        continue;
      }
      if (wrote <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
  }

 private:
  int number_;
};

bool pump(const OpenFile& source, const OpenFile& target) {
  if (ioctl(target.number(), FICLONE, source.number()) == 0) {
    return true;
  }
  std::vector<char> block(kBlock);
  std::int64_t total = 0;
  for (;;) {
    const ssize_t got = source.read_block(block);
    if (got < 0 ||
        !target.write_all({block.data(), static_cast<std::size_t>(got)})) {
      return false;
    }
    total += got;
    if (static_cast<std::size_t>(got) < block.size()) {
      // Cut behind the new content, not before: a mapping may look at it.
      return ftruncate(target.number(), total) == 0;
    }
  }
}

FileKind kind_of(mode_t mode) {
  return S_ISREG(mode)   ? FileKind::kFile
         : S_ISDIR(mode) ? FileKind::kFolder
         : S_ISLNK(mode) ? FileKind::kLink
                         : FileKind::kOther;
}

bool is_recent(const timespec& changed) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t age = (now.tv_sec - changed.tv_sec) * 1'000'000'000 +
                           (now.tv_nsec - changed.tv_nsec);
  return age < kRecentNanos;
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

HeldFile::~HeldFile() { unlink(path_.c_str()); }

bool KeptFile::looks_like(const KeptFile& other) const {
  if (kind != other.kind || inode != other.inode || device != other.device ||
      mode != other.mode) {
    return false;
  }
  // A folder changes when its entries do, which are looked at one by one.
  return kind == FileKind::kFolder || kind == FileKind::kOther ||
         (size == other.size && same_time(modified, other.modified) &&
          same_time(changed, other.changed) && target == other.target);
}

bool look_at(const std::string& path, KeptFile& file) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    return false;
  }
  file.kind = kind_of(status.st_mode);
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.mode = status.st_mode & 07777;
  file.size = status.st_size;
  file.modified = status.st_mtim;
  file.changed = status.st_ctim;
  file.is_recent = file.kind == FileKind::kFile && is_recent(status.st_ctim);
  if (file.kind == FileKind::kLink) {
    std::array<char, 4096> target;
    const ssize_t size = readlink(path.c_str(), target.data(), target.size());
    file.target.assign(target.data(),
                       size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  return true;
}

bool same_content(const std::string& first, const std::string& second) {
  const OpenFile a(first, O_RDONLY);
  const OpenFile b(second, O_RDONLY);
  if (!a.is_open() || !b.is_open()) {
    return false;
  }
  std::vector<char> left(kBlock);
  std::vector<char> right(kBlock);
  for (;;) {
    const ssize_t got = a.read_block(left);
    if (got < 0 || got != b.read_block(right) ||
        std::memcmp(left.data(), right.data(), static_cast<std::size_t>(got)) !=
            0) {
      return false;
    }
    if (static_cast<std::size_t>(got) < left.size()) {
      return true;
    }
  }
}

bool copy_content(const std::string& from, const std::string& to) {
  const OpenFile source(from, O_RDONLY);
  const OpenFile target(to, O_WRONLY | O_CREAT | O_TRUNC);
  return source.is_open() && target.is_open() && pump(source, target);
}

bool overwrite_content(const std::string& from, const std::string& to) {
  const OpenFile source(from, O_RDONLY);
  const OpenFile target(to, O_WRONLY);
  return source.is_open() && target.is_open() && pump(source, target);
}

std::uint64_t content_hash(const std::string& path) {
  const OpenFile file(path, O_RDONLY);
  if (!file.is_open()) {
    return 0;
  }
  ContentHash hash;
  std::vector<char> block(kBlock);
  for (;;) {
    const ssize_t got = file.read_block(block);
    if (got < 0) {
      return 0;
    }
    hash.feed(block.data(), static_cast<std::size_t>(got));
    if (static_cast<std::size_t>(got) < block.size()) {
      return hash.value();
    }
  }
}

}  // namespace mishap::program
