// Calls that copy from file to file, and that ask for room on the disk:
// io/write of the file that grows.
#include <mishap/trainer/harness/preload/file_hits.h>
#include <mishap/trainer/harness/preload/real_calls.h>

namespace mishap::preload {
namespace {

using faultinject::ActionKind;

template <typename Function, typename Offset>
ssize_t send(Function& function, int to, int from, Offset* at, std::size_t size,
             const void* caller) {
  const Strike strike = hit_write(to, caller);
  return is_full(strike) ? -1 : function(to, from, at, part_of(strike, size));
}

// Room is there or it isn't.
bool has_no_room(int descriptor, const void* caller) {
  const Strike strike = hit_write(descriptor, caller);
  if (strike.kind == ActionKind::kTorn) {
    errno = ENOSPC;
    return true;
  }
  return fails(strike);
}

template <typename Function, typename Offset>
int allocate(Function& function, int descriptor, int mode, Offset at,
             Offset size, const void* caller) {
  return has_no_room(descriptor, caller) ? -1
                                         : function(descriptor, mode, at, size);
}

// These give the error and leave errno alone.
template <typename Function, typename Offset>
int allocate_posix(Function& function, int descriptor, Offset at, Offset size,
                   const void* caller) {
  const int before = errno;
  if (!has_no_room(descriptor, caller)) {
    return function(descriptor, at, size);
  }
  const int error = errno;
  errno = before;
  return error;
}

}  // namespace
}  // namespace mishap::preload

using namespace mishap::preload;

MISHAP_INTERPOSE ssize_t sendfile(int to, int from, off_t* at,
                                  size_t size) noexcept {
  return send(real.sendfile, to, from, at, size, MISHAP_CALLER);
}

MISHAP_INTERPOSE ssize_t sendfile64(int to, int from, off64_t* at,
                                    size_t size) noexcept {
  return send(real.sendfile64, to, from, at, size, MISHAP_CALLER);
}

MISHAP_INTERPOSE ssize_t copy_file_range(int from, off64_t* from_at, int to,
                                         off64_t* to_at, size_t size,
                                         unsigned int flags) {
  const Strike strike = hit_write(to, MISHAP_CALLER);
  return is_full(strike) ? -1
                         : real.copy_file_range(from, from_at, to, to_at,
                                                part_of(strike, size), flags);
}

MISHAP_INTERPOSE int fallocate(int descriptor, int mode, off_t at, off_t size) {
  return allocate(real.fallocate, descriptor, mode, at, size, MISHAP_CALLER);
}

MISHAP_INTERPOSE int fallocate64(int descriptor, int mode, off64_t at,
                                 off64_t size) {
  return allocate(real.fallocate64, descriptor, mode, at, size, MISHAP_CALLER);
}

MISHAP_INTERPOSE int posix_fallocate(int descriptor, off_t at, off_t size) {
  return allocate_posix(real.posix_fallocate, descriptor, at, size,
                        MISHAP_CALLER);
}

MISHAP_INTERPOSE int posix_fallocate64(int descriptor, off64_t at,
                                       off64_t size) {
  return allocate_posix(real.posix_fallocate64, descriptor, at, size,
                        MISHAP_CALLER);
}
