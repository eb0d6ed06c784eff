#include <fcntl.h>
#include <mishap/trainer/guard/file_store.h>
#include <unistd.h>

#include <cstdio>

namespace mishap {
namespace {

class SystemStore final : public FileStore {
 public:
  int create(const char* path) override {
    return ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  0666);
  }
  int open_folder(const char* path) override {
    return ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  int open(const char* path) override {
    return ::open(path, O_RDONLY | O_CLOEXEC);
  }
  ssize_t read(int file, void* data, std::size_t size) override {
    return ::read(file, data, size);
  }
  ssize_t write(int file, const void* data, std::size_t size) override {
    return ::write(file, data, size);
  }
  int fsync(int file) override { return ::fsync(file); }
  int close(int file) override { return ::close(file); }
  int link(const char* from, const char* to) override {
    return ::link(from, to);
  }
  int rename(const char* from, const char* to) override {
    return ::rename(from, to);
  }
  int unlink(const char* path) override { return ::unlink(path); }
};

}  // namespace

FileStore& FileStore::system() noexcept {
  static SystemStore store;
  return store;
}

}  // namespace mishap
