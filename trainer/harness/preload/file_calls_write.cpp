// Calls that write, and that bring what was written to the disk: io/write,
// io/fsync.
#include <mishap/trainer/harness/preload/file_hits.h>
#include <mishap/trainer/harness/preload/real_calls.h>

#include <cstdarg>
#include <cstring>

namespace mishap::preload {
namespace {

template <typename Function, typename... More>
ssize_t write_some(Function& function, int descriptor, const void* from,
                   std::size_t size, const void* caller, More... more) {
  const Strike strike = hit_write(descriptor, caller);
  return is_full(strike)
             ? -1
             : function(descriptor, from, part_of(strike, size), more...);
}

template <typename Function, typename... More>
ssize_t write_parts(Function& function, int descriptor, const iovec* parts,
                    int count, const void* caller, More... more) {
  const Strike strike = hit_write(descriptor, caller);
  return is_full(strike)
             ? -1
             : move_parts(strike, function, descriptor, parts, count, more...);
}

// The stream says that it failed, and no more than `strike` has let through is
// in it. Gives how many bytes those are.
std::size_t write_torn(const void* from, std::size_t size, FILE* stream,
                       const Strike& strike) {
  std::size_t written = 0;
  if (!fails(strike)) {
    const std::size_t part = part_of(strike, size);
    written = part == 0 ? 0 : real.fwrite(from, 1, part, stream);
    errno = ENOSPC;
  }
  set_stream_error(stream);
  return written;
}

bool write_fails(FILE* stream, const void* caller) {
  const Strike strike = hit_write(fileno(stream), caller);
  if (!strike) {
    return false;
  }
  if (!fails(strike)) {
    errno = ENOSPC;
  }
  set_stream_error(stream);
  return true;
}

}  // namespace
}  // namespace mishap::preload

using namespace mishap::preload;

MISHAP_INTERPOSE ssize_t write(int descriptor, const void* from, size_t size) {
  return write_some(real.write, descriptor, from, size, MISHAP_CALLER);
}

MISHAP_INTERPOSE ssize_t pwrite(int descriptor, const void* from, size_t size,
                                off_t at) {
  return write_some(real.pwrite, descriptor, from, size, MISHAP_CALLER, at);
}

MISHAP_INTERPOSE ssize_t pwrite64(int descriptor, const void* from, size_t size,
                                  off64_t at) {
  return write_some(real.pwrite64, descriptor, from, size, MISHAP_CALLER, at);
}

MISHAP_INTERPOSE ssize_t writev(int descriptor, const iovec* parts, int count) {
  return write_parts(real.writev, descriptor, parts, count, MISHAP_CALLER);
}

MISHAP_INTERPOSE ssize_t pwritev(int descriptor, const iovec* parts, int count,
                                 off_t at) {
  return write_parts(real.pwritev, descriptor, parts, count, MISHAP_CALLER, at);
}

MISHAP_INTERPOSE ssize_t pwritev64(int descriptor, const iovec* parts,
                                   int count, off64_t at) {
  return write_parts(real.pwritev64, descriptor, parts, count, MISHAP_CALLER,
                     at);
}

MISHAP_INTERPOSE ssize_t pwritev2(int descriptor, const iovec* parts, int count,
                                  off_t at, int flags) {
  return write_parts(real.pwritev2, descriptor, parts, count, MISHAP_CALLER, at,
                     flags);
}

MISHAP_INTERPOSE ssize_t pwritev64v2(int descriptor, const iovec* parts,
                                     int count, off64_t at, int flags) {
  return write_parts(real.pwritev64v2, descriptor, parts, count, MISHAP_CALLER,
                     at, flags);
}

MISHAP_INTERPOSE size_t fwrite(const void* from, size_t size, size_t count,
                               FILE* stream) {
  const Strike strike = hit_write(fileno(stream), MISHAP_CALLER);
  if (!strike) {
    return real.fwrite(from, size, count, stream);
  }
  const std::size_t written = write_torn(from, size * count, stream, strike);
  return size == 0 ? 0 : written / size;
}

MISHAP_INTERPOSE int fputs(const char* text, FILE* stream) {
  const Strike strike = hit_write(fileno(stream), MISHAP_CALLER);
  if (!strike) {
    return real.fputs(text, stream);
  }
  write_torn(text, std::strlen(text), stream, strike);
  return EOF;
}

MISHAP_INTERPOSE int vfprintf(FILE* stream, const char* format, va_list list) {
  return write_fails(stream, MISHAP_CALLER)
             ? -1
             : real.vfprintf(stream, format, list);
}

MISHAP_INTERPOSE int __vfprintf_chk(FILE* stream, int flag, const char* format,
                                    va_list list) {
  return write_fails(stream, MISHAP_CALLER)
             ? -1
             : real.__vfprintf_chk(stream, flag, format, list);
}

MISHAP_INTERPOSE int fprintf(FILE* stream, const char* format, ...) {
  if (write_fails(stream, MISHAP_CALLER)) {
    return -1;
  }
  va_list list;
  va_start(list, format);
  const int written = real.vfprintf(stream, format, list);
  va_end(list);
  return written;
}

MISHAP_INTERPOSE int __fprintf_chk(FILE* stream, int flag, const char* format,
                                   ...) {
  if (write_fails(stream, MISHAP_CALLER)) {
    return -1;
  }
  va_list list;
  va_start(list, format);
  const int written = real.__vfprintf_chk(stream, flag, format, list);
  va_end(list);
  return written;
}

MISHAP_INTERPOSE int vdprintf(int descriptor, const char* format,
                              va_list list) {
  return is_full(hit_write(descriptor, MISHAP_CALLER))
             ? -1
             : real.vdprintf(descriptor, format, list);
}

MISHAP_INTERPOSE int __vdprintf_chk(int descriptor, int flag,
                                    const char* format, va_list list) {
  return is_full(hit_write(descriptor, MISHAP_CALLER))
             ? -1
             : real.__vdprintf_chk(descriptor, flag, format, list);
}

MISHAP_INTERPOSE int dprintf(int descriptor, const char* format, ...) {
  if (is_full(hit_write(descriptor, MISHAP_CALLER))) {
    return -1;
  }
  va_list list;
  va_start(list, format);
  const int written = real.vdprintf(descriptor, format, list);
  va_end(list);
  return written;
}

MISHAP_INTERPOSE int __dprintf_chk(int descriptor, int flag, const char* format,
                                   ...) {
  if (is_full(hit_write(descriptor, MISHAP_CALLER))) {
    return -1;
  }
  va_list list;
  va_start(list, format);
  const int written = real.__vdprintf_chk(descriptor, flag, format, list);
  va_end(list);
  return written;
}

MISHAP_INTERPOSE int fsync(int descriptor) {
  const Strike strike = hit_file(kIoFsync, descriptor, MISHAP_CALLER);
  return fails(strike) ? -1 : real.fsync(descriptor);
}

MISHAP_INTERPOSE int fdatasync(int descriptor) {
  const Strike strike = hit_file(kIoFsync, descriptor, MISHAP_CALLER);
  return fails(strike) ? -1 : real.fdatasync(descriptor);
}
