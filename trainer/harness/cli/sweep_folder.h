#pragma once

#include <chrono>
#include <string>

namespace mishap::cli {

/// The folder that a sweep writes to, locked against other sweeps as long as
/// this lives.
class SweepFolder {
 public:
  /// Throws InputError when the folder cannot be written, holds records that
  /// are no sweep's, or is being written to by another sweep. Changes nothing
  /// in it. A sweep that is just ending gets so long to do so.
  explicit SweepFolder(std::string folder, std::chrono::milliseconds wait =
                                               std::chrono::milliseconds(0));
  ~SweepFolder();
  SweepFolder(const SweepFolder&) = delete;
  SweepFolder& operator=(const SweepFolder&) = delete;

  /// Removes what an earlier sweep left.
  void clear() const;

 private:
  bool lock_within(std::chrono::milliseconds wait) const;

  std::string folder_;
  bool is_new_ = false;
  int lock_ = -1;
};

}  // namespace mishap::cli
