#pragma once

#include <cstdint>

namespace mishap::preload {

/// What is known of an open file.
struct OpenFile {
  /// Its path among the texts; kNoText where its calls are no points.
  std::uint32_t point_path = 0;
  /// The same where it is told what happens to it.
  std::uint32_t told_path = 0;
};

/// Of a regular file or folder; nothing of anything else. Kept, and asked for
/// anew when the number has come to stand for another file. Lock-free; two
/// threads that use one number at once at worst ask twice.
OpenFile open_file(int descriptor) noexcept;

/// The names of files have changed: what is kept is asked for anew.
void forget_open_files() noexcept;

/// What has been written through it makes a version when it is closed.
void note_written(int descriptor) noexcept;
/// Whether there was a write; forgets it.
bool take_written(int descriptor) noexcept;

}  // namespace mishap::preload
