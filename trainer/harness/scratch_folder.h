#pragma once

#include <filesystem>
#include <string>

namespace mishap {

/// An empty folder in another one, gone with its content at the end of its life
/// unless kept.
class ScratchFolder {
 public:
  /// In the system's temporary folder. Throws std::system_error.
  ScratchFolder();
  /// As above in `parent`.
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const noexcept { return path_; }
  void keep() noexcept { is_kept_ = true; }

 private:
  std::string path_;
  bool is_kept_ = false;
};

}  // namespace mishap
