#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mishap::collector {

/// When a file of lines is put aside and a new one begun, as logrotate names
/// them: `records.jsonl` becomes `records.jsonl.1`, what was `.1` becomes `.2`,
/// and of more than `files` the oldest is removed. It is done by a writer,
/// under the file's lock, before its line; writers at work elsewhere go on in
/// the new file. By default nothing is ever put aside.
struct Rotation {
  static constexpr int kMaxFiles = 99;

  /// A file that the line would make longer than this; 0: of any size.
  std::int64_t bytes = 0;
  /// A file that was made so long ago, by the wall clock; 0: of any age. Where
  /// the file system does not keep that time no file is old.
  std::chrono::seconds age{0};
  /// How many files are kept beside the one in use, from 1 to kMaxFiles.
  int files = 9;
};

/// Whether the open file is to be put aside before a line of that length.
/// Async-signal-safe, as are the two below.
bool is_due(const Rotation& rule, int file, const struct stat& status,
            std::size_t line_bytes) noexcept;

/// Whether the open file is no longer the one that `path` names.
bool was_put_aside(const char* path, const struct stat& status) noexcept;

/// Renames the files. False when that failed; the file in use is then still
/// there.
bool put_aside(const char* path, const Rotation& rule) noexcept;

/// The files that were put aside and then `path` itself, oldest first: those
/// that exist. Allocates.
std::vector<std::string> with_rotated(const std::string& path);

}  // namespace mishap::collector
