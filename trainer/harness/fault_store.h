#pragma once

#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/point.h>
#include <mishap/trainer/guard/file_store.h>

#include <string>
#include <string_view>

namespace mishap {

/// Passes every call on to another store; each is the fault point
/// `io/<kind>/<call>`: create, open_folder, open, read, write, fsync, close,
/// link, rename, unlink. `errno(name)` fails a call, `short(n)` writes n bytes
/// and says so, `torn(n)` writes n bytes and claims all, `bitflip(bit)` damages
/// what is written, `corrupt` inverts its last byte.
class FaultStore final : public FileStore {
 public:
  /// `kind` is the kind of file, such as "checkpoint".
  explicit FaultStore(std::string_view kind, FileStore& below = system());

  int create(const char* path) override;
  int open_folder(const char* path) override;
  int open(const char* path) override;
  ssize_t read(int file, void* data, std::size_t size) override;
  ssize_t write(int file, const void* data, std::size_t size) override;
  int fsync(int file) override;
  int close(int file) override;
  int link(const char* from, const char* to) override;
  int rename(const char* from, const char* to) override;
  int unlink(const char* path) override;

 private:
  FileStore& below_;
  faultinject::PointId create_;
  faultinject::PointId open_folder_;
  faultinject::PointId open_;
  faultinject::PointId read_;
  faultinject::PointId write_;
  faultinject::PointId fsync_;
  faultinject::PointId close_;
  faultinject::PointId link_;
  faultinject::PointId rename_;
  faultinject::PointId unlink_;
};

}  // namespace mishap
