#include <mishap/trainer/harness/preload/file_path.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace mishap::preload {
namespace {

// The path so far, whose folders are taken back by `..`.
class Normal {
 public:
  explicit Normal(PathRoom& room) noexcept : room_(room) {}

  bool add(std::string_view path) noexcept {
    while (!path.empty()) {
      const std::size_t end = std::min(path.find('/'), path.size());
      if (!add_name(path.substr(0, end))) {
        return false;
      }
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    return true;
  }

  std::string_view view() const noexcept {
    return size_ == 0 ? std::string_view("/")
                      : std::string_view(room_.data(), size_);
  }

 private:
  bool add_name(std::string_view name) noexcept {
    if (name.empty() || name == ".") {
      return true;
    }
    if (name == "..") {
      const std::size_t slash =
          std::string_view(room_.data(), size_).rfind('/');
      size_ = slash == std::string_view::npos ? 0 : slash;
      return true;
    }
    if (size_ + 1 + name.size() > room_.size()) {
      return false;
    }
    room_[size_++] = '/';
    std::copy_n(name.data(), name.size(), room_.data() + size_);
    size_ += name.size();
    return true;
  }

  PathRoom& room_;
  std::size_t size_ = 0;
};

}  // namespace

std::string_view path_of_descriptor(int descriptor, PathRoom& room) noexcept {
  std::array<char, 32> link{"/proc/self/fd/"};
  std::to_chars(link.data() + std::strlen(link.data()),
                link.data() + link.size() - 1, descriptor);
  const ssize_t size = readlink(link.data(), room.data(), room.size());
  const std::string_view path(room.data(),
                              size > 0 ? static_cast<std::size_t>(size) : 0);
  return path.starts_with('/') ? path : std::string_view();
}

std::string_view absolute_path(int folder, const char* path,
                               PathRoom& room) noexcept {
  Normal out(room);
  if (path == nullptr) {
    return {};
  }
  if (*path != '/') {
    PathRoom base;
    if (folder == AT_FDCWD) {
      // The kernel's call, since the library's may allocate.
      const long size = syscall(SYS_getcwd, base.data(), base.size());
      if (size <= 1 ||
          !out.add({base.data(), static_cast<std::size_t>(size - 1)})) {
        return {};
      }
    } else {
      const std::string_view found = path_of_descriptor(folder, base);
      if (found.empty() || !out.add(found)) {
        return {};
      }
    }
  }
  return out.add(path) ? out.view() : std::string_view();
}

}  // namespace mishap::preload
