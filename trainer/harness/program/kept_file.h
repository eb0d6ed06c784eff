#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace mishap::program {

/// A file of ours that holds something for later; gone with the last one that
/// may need it.
class HeldFile {
 public:
  explicit HeldFile(std::string path) : path_(std::move(path)) {}
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

enum class FileKind : char {
  kFile = 'f',
  kFolder = 'd',
  kLink = 'l',
  /// A pipe, socket or device, which is left alone.
  kOther = 'o',
};

/// What was at a path.
struct KeptFile {
  FileKind kind = FileKind::kOther;
  dev_t device = 0;
  ino_t inode = 0;
  mode_t mode = 0;
  std::int64_t size = 0;
  timespec modified{};
  timespec changed{};
  /// Where a symbolic link points.
  std::string target;
  /// The content, where it was kept.
  std::shared_ptr<const HeldFile> copy;
  /// Another name of the inode, where one could be made.
  std::shared_ptr<const HeldFile> name;
  /// It was changed so short a time before that another change might leave the
  /// same times and size.
  bool is_recent = false;

  /// By the numbers that the kernel keeps; a recent file may still differ.
  bool looks_like(const KeptFile& other) const;
};

/// By absolute path.
using KeptState = std::map<std::string, KeptFile>;

/// What stands at a path now, nothing kept; false when there is nothing.
bool look_at(const std::string& path, KeptFile& file);

/// Whether two files hold the same bytes; false when one can't be read.
bool same_content(const std::string& first, const std::string& second);

/// Copies the content; false when that fails.
bool copy_content(const std::string& from, const std::string& to);

/// Gives an existing file the content of another one, keeping its inode.
bool overwrite_content(const std::string& from, const std::string& to);

/// Hash of a file's bytes as the agent computes it; 0 for none.
std::uint64_t content_hash(const std::string& path);

}  // namespace mishap::program
