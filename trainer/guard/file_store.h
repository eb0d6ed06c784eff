#pragma once

#include <sys/types.h>

#include <cstddef>

namespace mishap {

/// The calls of saving and loading a file, one of the system each: the seam at
/// which each can be made to fail. Every call returns what the system's returns
/// and leaves errno; a store that injects faults may throw too.
class FileStore {
 public:
  virtual ~FileStore() = default;

  /// A new file, readable by the same people as what other programs create.
  virtual int create(const char* path) = 0;
  /// A folder, to be synced.
  virtual int open_folder(const char* path) = 0;
  /// A file, to be read.
  virtual int open(const char* path) = 0;
  virtual ssize_t read(int file, void* data, std::size_t size) = 0;
  virtual ssize_t write(int file, const void* data, std::size_t size) = 0;
  virtual int fsync(int file) = 0;
  virtual int close(int file) = 0;
  virtual int link(const char* from, const char* to) = 0;
  virtual int rename(const char* from, const char* to) = 0;
  virtual int unlink(const char* path) = 0;

  /// The file system itself.
  static FileStore& system() noexcept;
};

}  // namespace mishap
