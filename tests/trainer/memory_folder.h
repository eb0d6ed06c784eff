#pragma once

#include <unistd.h>

#include <cstdlib>

#include "../temp_folder.h"

namespace mishap::testing {

/// A TempFolder in memory, where there is such a file system: the programs that
/// use it write thousands of files.
inline TempFolder memory_folder() {
  if (access("/dev/shm", W_OK) == 0) {
    setenv("TMPDIR", "/dev/shm", /*overwrite=*/0);
  }
  return {};
}

}  // namespace mishap::testing
