#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mishap::program {

/// The folders of which each job of a sweep gets a copy of its own, mounted
/// over the original where only the job and its children see it.
class PrivateView {
 public:
  /// Chooses the outermost of `folders`. `out` stays the one of everybody.
  /// Throws InputError when they can't be given to each job.
  PrivateView(const std::set<std::string>& folders, std::string out);

  /// Why this machine gives no process a view of its own; nothing when it does.
  /// Tries it in a child; to be called while this process has one thread.
  static std::optional<std::string> why_not(const std::string& folder);

  /// Copies the folders into `place`, which exists, and lets this process, with
  /// all that it starts later, see the copies in their stead. Never to be
  /// undone; what is below `place` may be removed from outside only. Throws
  /// std::system_error or fs::filesystem_error.
  void enter(const std::string& place) const;

  /// Where a path lies without the mounts: the same file, on the file system
  /// of `place`, so that it may get a second name there.
  std::string behind(const std::string& place, const std::string& path) const;

  const std::vector<std::string>& folders() const { return folders_; }

 private:
  std::string copy_of(const std::string& place, std::size_t index) const {
    return place + '/' + std::to_string(index);
  }

  std::vector<std::string> folders_;
  std::string out_;
};

/// Removes a tree, also below folders that forbid it.
void remove_tree(const std::string& folder);

}  // namespace mishap::program
