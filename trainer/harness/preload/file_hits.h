#pragma once

#include <mishap/trainer/harness/preload/hits.h>
#include <mishap/trainer/harness/preload/points.h>

#include <cstdio>

namespace mishap::preload {

/// Whether a call of this thread on a file is looked at. Cheap where nothing
/// is.
inline bool looks_at_files() noexcept { return may_hit(); }

/// A call on an open file hits the point, where that file is one to look at.
/// `is_write`: something is written to it; that is told.
Strike hit_file(FixedPoint& point, int descriptor, const void* caller,
                bool is_write = false);
/// The same with a path; `folder` as in openat().
Strike hit_path(FixedPoint& point, int folder, const char* path,
                const void* caller);

/// The call has to fail as a whole: sets errno. `short` and `torn` are for the
/// calls that can be done in part.
inline bool fails(const Strike& strike) noexcept {
  if (strike.kind != faultinject::ActionKind::kErrno) {
    return false;
  }
  errno = static_cast<int>(strike.number);
  return true;
}

/// How many of `size` bytes a call may move.
std::size_t part_of(const Strike& strike, std::size_t size) noexcept;

/// The stream has failed, as ferror() tells.
void set_stream_error(std::FILE* stream) noexcept;

}  // namespace mishap::preload

/// In an interposed function: where it returns to.
#define MISHAP_CALLER __builtin_return_address(0)
