#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace mishap::testing {

/// Appends a line to the file that MARKS names, at once and whole: what a
/// process had done is there however it ended.
inline void mark(const std::string& text) {
  static const int file = [] {
    const char* const path = std::getenv("MARKS");
    return path == nullptr ? -1
                           : open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  }();
  const std::string line = text + '\n';
  if (file >= 0 && write(file, line.data(), line.size()) < 0) {
    std::abort();
  }
}

}  // namespace mishap::testing
