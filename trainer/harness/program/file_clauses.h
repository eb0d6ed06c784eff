#pragma once

#include <mishap/trainer/harness/program/clean_run.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mishap::program {

/// What a case left of the files, against what clean runs do with them.
struct FilesLeft {
  /// `--atomic` files that are neither as before nor as a clean run ever had
  /// them.
  std::vector<std::string> torn;
  /// New files that no clean run leaves.
  std::vector<std::string> stray;
  /// Exactly what a clean run leaves.
  bool is_as_clean = false;
  /// The same for the same files; 0 when they are as before.
  std::uint64_t state = 0;
};

/// Looks at the files now.
FilesLeft look_at_files(KeptFiles& files, const CleanFiles& clean,
                        const std::vector<std::string>& atomic_globs,
                        const std::string& current_folder);

}  // namespace mishap::program
