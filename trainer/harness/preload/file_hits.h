#pragma once

#include <mishap/trainer/harness/preload/hits.h>
#include <mishap/trainer/harness/preload/points.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdio>

namespace mishap::preload {

/// Whether a call of this thread on a file is looked at. Cheap where nothing
/// is.
inline bool looks_at_files() noexcept { return may_hit(); }

namespace detail {
Strike hit_open_file(FixedPoint& point, int descriptor, const void* caller,
                     bool is_write);
}

/// A call on an open file hits the point, where that file is one to look at.
/// `is_write`: something is written to it; that is told.
inline Strike hit_file(FixedPoint& point, int descriptor, const void* caller,
                       bool is_write = false) {
  return looks_at_files()
             ? detail::hit_open_file(point, descriptor, caller, is_write)
             : Strike();
}
/// The same for what writes: io/write.
inline Strike hit_write(int descriptor, const void* caller) {
  return hit_file(kIoWrite, descriptor, caller, true);
}
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

/// The same of a call that writes: also where nothing fits any more.
inline bool is_full(const Strike& strike) noexcept {
  if (strike.kind == faultinject::ActionKind::kTorn && strike.number <= 0) {
    errno = ENOSPC;
    return true;
  }
  return fails(strike);
}

/// How many of `size` bytes a call may move.
std::size_t part_of(const Strike& strike, std::size_t size) noexcept;

/// Calls readv() or the like; where less is to be moved, with a part of the
/// first of the parts.
template <typename Function, typename... More>
ssize_t move_parts(const Strike& strike, Function& function, int descriptor,
                   const iovec* parts, int count, More... more) {
  if (!strike || count < 1) {
    return function(descriptor, parts, count, more...);
  }
  const iovec first{parts->iov_base, part_of(strike, parts->iov_len)};
  return function(descriptor, &first, 1, more...);
}

/// The stream has failed, as ferror() tells.
void set_stream_error(std::FILE* stream) noexcept;

}  // namespace mishap::preload

/// In an interposed function: where it returns to.
#define MISHAP_CALLER __builtin_return_address(0)
