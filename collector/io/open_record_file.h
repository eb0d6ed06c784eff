#pragma once

#include <cstdint>

namespace mishap::collector {

/// A file that lines are appended to, just opened.
struct OpenedFile {
  int descriptor = -1;
  bool is_regular = false;
  /// The call or rule that failed, or null; and its errno.
  const char* failed = nullptr;
  int error = 0;
};

/// Opens `path` for appending, and makes it (not its folder) if need be. Never
/// blocks, whatever lies there. Refused are
/// - a symbolic link of another user, and in a folder that everybody may write
///   to (as /tmp) a file of another user: what is written there would be his;
/// - a FIFO that nobody reads.
/// When the process has no descriptors left the reserved one is used.
/// Async-signal-safe.
OpenedFile open_record_file(const char* path) noexcept;

}  // namespace mishap::collector
