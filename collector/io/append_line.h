#pragma once

#include <mishap/collector/io/rotation.h>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace mishap::collector {

/// What became of a line.
struct AppendResult {
  /// The call that failed ("open", "write", ...), or null when the line is in
  /// the file.
  const char* failed = nullptr;
  /// errno of that call; ENOSPC for a short write.
  int error = 0;
  /// Another writer held the lock all the time, and it was done without.
  bool without_lock = false;

  bool ok() const noexcept { return failed == nullptr; }
};

/// How a line is appended; see SinkOptions.
struct AppendRule {
  std::chrono::milliseconds lock_wait{100};
  std::int64_t max_file_bytes = std::int64_t{1} << 30;
  Rotation rotation{};
  bool fsync = false;
};

/// Appends one line, which ends in a newline, to a file that is made if need
/// be, with its folder. When the line did not fit the file is as it was before,
/// or has spaces where its beginning was: a line that readers pass over.
/// Async-signal-safe.
AppendResult append_line(const char* path, std::string_view line,
                         const AppendRule& rule) noexcept;

/// Makes a folder and its parents; returns 0 or the errno. Async-signal-safe.
int make_folders(std::string_view path) noexcept;

}  // namespace mishap::collector
