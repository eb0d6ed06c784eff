#pragma once

#include <string>

namespace mishap::cli {

/// An empty folder in the system's temporary one, gone with its content at the
/// end of its life unless kept.
class ScratchFolder {
 public:
  /// Throws std::system_error.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const noexcept { return path_; }
  void keep() noexcept { is_kept_ = true; }

 private:
  std::string path_;
  bool is_kept_ = false;
};

}  // namespace mishap::cli
