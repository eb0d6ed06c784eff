#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace mishap {

/// What the kernel holds for this process.
struct Resources {
  std::vector<pid_t> threads;
  std::vector<int> descriptors;
  bool has_children = false;
  /// Names in the watched folder but for the files of records and of a sweep.
  std::vector<std::string> files;

  /// Reads /proc and the folder (none when empty).
  static Resources sample(const std::string& folder);

  /// One sentence about what is here and not in `clean`, or "" when nothing
  /// is. A thread that was joined may be listed for a moment longer, so a
  /// difference in threads is read again for up to 50 ms.
  std::string beyond(const Resources& clean) const;
};

}  // namespace mishap
