#pragma once

#include <fcntl.h>
#include <mishap/trainer/guard/file_store.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mishap::checkpoint_test {

/// One thing that a save asked of the file system. Paths are relative to the
/// folder that is watched.
struct Operation {
  enum class Kind : std::uint8_t {
    kCreate,
    kTruncate,
    kWrite,
    kSync,
    kSyncFolder,
    kLink,
    kRename,
    kUnlink,
  };
  Kind kind = Kind::kCreate;
  std::string path;
  /// The new name of a link or rename.
  std::string to = {};
  /// What was written.
  std::string data = {};
};

/// Passes every call on to the system and writes down those that succeeded and
/// change something or make it durable.
class RecordingStore final : public FileStore {
 public:
  using Kind = Operation::Kind;

  /// No write takes more than `chunk` bytes.
  explicit RecordingStore(
      std::filesystem::path folder,
      std::size_t chunk = std::numeric_limits<std::size_t>::max())
      : folder_(std::move(folder)), chunk_(chunk) {}

  const std::vector<Operation>& trace() const noexcept { return trace_; }

  int create(const char* path) override {
    return opened(system().create(path), path, Kind::kCreate);
  }
  /// What a naive save opens: the file itself, emptied.
  int open_truncated(const char* path) {
    const bool is_there = std::filesystem::exists(path);
    return opened(::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666),
                  path, is_there ? Kind::kTruncate : Kind::kCreate);
  }
  int open_folder(const char* path) override {
    const int file = system().open_folder(path);
    paths_[file] = relative(path);
    folders_[file] = true;
    return file;
  }
  int open(const char* path) override { return system().open(path); }
  ssize_t read(int file, void* data, std::size_t size) override {
    return system().read(file, data, size);
  }
  ssize_t write(int file, const void* data, std::size_t size) override {
    const ssize_t written = system().write(file, data, std::min(size, chunk_));
    if (written > 0) {
      trace_.push_back({Kind::kWrite, paths_.at(file), "",
                        std::string(static_cast<const char*>(data),
                                    static_cast<std::size_t>(written))});
    }
    return written;
  }
  int fsync(int file) override {
    const int result = system().fsync(file);
    if (result == 0) {
      trace_.push_back({folders_.at(file) ? Kind::kSyncFolder : Kind::kSync,
                        paths_.at(file)});
    }
    return result;
  }
  int close(int file) override { return system().close(file); }
  int link(const char* from, const char* to) override {
    return noted(system().link(from, to), Kind::kLink, from, to);
  }
  int rename(const char* from, const char* to) override {
    return noted(system().rename(from, to), Kind::kRename, from, to);
  }
  int unlink(const char* path) override {
    return noted(system().unlink(path), Kind::kUnlink, path, "");
  }

 private:
  std::string relative(const std::string& path) const {
    return path.empty() ? path
                        : std::filesystem::path(path)
                              .lexically_relative(folder_)
                              .native();
  }
  int opened(int file, const char* path, Kind kind) {
    if (file >= 0) {
      paths_[file] = relative(path);
      folders_[file] = false;
      trace_.push_back({kind, relative(path)});
    }
    return file;
  }
  int noted(int result, Kind kind, const char* path, const char* to) {
    if (result == 0) {
      trace_.push_back({kind, relative(path), relative(to)});
    }
    return result;
  }

  std::filesystem::path folder_;
  std::size_t chunk_;
  std::vector<Operation> trace_;
  std::map<int, std::string> paths_;
  std::map<int, bool> folders_;
};

}  // namespace mishap::checkpoint_test
