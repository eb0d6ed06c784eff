#include <mishap/trainer/guard/read_file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mishap {
namespace {

constexpr std::size_t kFirst = std::size_t{1} << 16;

// Closed without the store: nothing that was read depends on it.
class Closed {
 public:
  explicit Closed(int file) noexcept : file_(file) {}
  ~Closed() { ::close(file_); }
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;

 private:
  int file_;
};

}  // namespace

std::string read_file(const std::string& path, FileStore& store) {
  const int file = store.open(path.c_str());
  if (file < 0) {
    throw FileError("open", path, errno);
  }
  const Closed closed(file);
  std::string bytes;
  std::size_t size = 0;
  for (;;) {
    if (size == bytes.size()) {
      bytes.resize(std::max(kFirst, 2 * size));
    }
    const ssize_t count =
        store.read(file, bytes.data() + size, bytes.size() - size);
    if (count == 0) {
      bytes.resize(size);
      return bytes;
    }
    if (count > 0) {
      size += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      throw FileError("read", path, errno);
    }
  }
}

}  // namespace mishap
