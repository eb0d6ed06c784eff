#pragma once

#include <mishap/trainer/harness/program/kept_file.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mishap::program {

/// What differs between a state and what is there now. Absolute paths.
struct FileChanges {
  std::vector<std::string> added;
  std::vector<std::string> changed;
  std::vector<std::string> removed;

  bool empty() const {
    return added.empty() && changed.empty() && removed.empty();
  }
};

/// Keeps the files of some folders, so that they can be put back: contents,
/// inodes, names, modes, times. Subfolders are known by name, not looked into.
///
/// A file is copied once and again only when it has changed. Not for several
/// threads.
class KeptFiles {
 public:
  /// `scratch` exists and is on the same file system as the files if inodes
  /// are to be put back. `left_alone`: paths that are neither kept nor touched,
  /// with all below them.
  KeptFiles(std::string scratch, std::vector<std::string> left_alone);

  void watch_folder(const std::string& folder) { folders_.insert(folder); }
  void watch_file(const std::string& path) { files_.insert(path); }
  /// The folder and those below it as far as there are no more than so many
  /// files; false when there are.
  bool watch_tree(const std::string& folder, std::size_t max_files);
  /// Watches nothing any more; what was copied stays known.
  void forget();
  /// Of files larger than that the name is kept, not the content, unless they
  /// were named by watch_file().
  void set_copy_limit(std::int64_t bytes) { copy_limit_ = bytes; }

  /// Where a path lies for the calls that give it a second name, which they do
  /// only within one mount.
  void set_behind(std::function<std::string(const std::string&)> behind) {
    behind_ = std::move(behind);
  }

  const std::set<std::string>& folders() const { return folders_; }
  const std::set<std::string>& files() const { return files_; }

  KeptState take();
  /// Now against a state; what looks the same and is not recent is the same.
  FileChanges compare(const KeptState& state) const;
  /// Puts everything back. What `is_ours` says no to is put aside in
  /// `aside` of the folder that holds the sweep before it is overwritten or
  /// removed. Returns what could not be put back.
  std::vector<std::string> put_back(
      KeptState& state, const std::function<bool(const std::string&)>& is_ours);

  /// Hash of a file now, remembered as long as it looks the same.
  std::uint64_t hash_of(const std::string& path);
  /// A file whose inode could not be kept by a second name; empty: all could.
  const std::string& without_inode() const { return without_inode_; }
  /// How many files were put aside.
  std::uint64_t put_aside() const { return put_aside_; }

 private:
  KeptState look() const;
  bool is_left_alone(const std::string& path) const;
  void keep(const std::string& path, KeptFile& file);
  std::string next_name();
  void remove_added(const std::string& path, bool is_ours);
  bool bring_back(const std::string& path, const KeptFile& file, bool is_ours);
  bool set_aside(const std::string& path);

  std::string scratch_;
  std::vector<std::string> left_alone_;
  std::set<std::pair<dev_t, ino_t>> own_streams_;
  std::set<std::string> folders_;
  std::set<std::string> files_;
  std::function<std::string(const std::string&)> behind_ =
      [](const std::string& path) { return path; };
  std::int64_t copy_limit_ = std::int64_t{64} << 20;
  KeptState known_;
  std::map<std::string, std::pair<KeptFile, std::uint64_t>> hashes_;
  std::string without_inode_;
  std::uint64_t numbers_ = 0;
  std::uint64_t put_aside_ = 0;
};

}  // namespace mishap::program
