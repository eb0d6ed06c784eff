// Calls that read: io/read.
#include <mishap/trainer/harness/preload/file_hits.h>
#include <mishap/trainer/harness/preload/real_calls.h>

#include <algorithm>
#include <cstdarg>

namespace mishap::preload {
namespace {

template <typename Function, typename... More>
ssize_t read_some(Function& function, int descriptor, void* to,
                  std::size_t size, const void* caller, More... more) {
  const Strike strike = hit_file(kIoRead, descriptor, caller);
  return fails(strike)
             ? -1
             : function(descriptor, to, part_of(strike, size), more...);
}

// Read in parts, less is what comes in one part less.
template <typename Function, typename... More>
ssize_t read_parts(Function& function, int descriptor, const iovec* parts,
                   int count, const void* caller, More... more) {
  const Strike strike = hit_file(kIoRead, descriptor, caller);
  return fails(strike)
             ? -1
             : move_parts(strike, function, descriptor, parts, count, more...);
}

std::size_t read_stream(void* to, std::size_t size, std::size_t count,
                        FILE* stream, const void* caller) {
  const Strike strike = hit_file(kIoRead, fileno(stream), caller);
  if (!strike) {
    return real.fread(to, size, count, stream);
  }
  if (!fails(strike)) {
    const std::size_t part = part_of(strike, size * count);
    const std::size_t got = real.fread(to, 1, part, stream);
    return size == 0 ? 0 : got / size;
  }
  set_stream_error(stream);
  return 0;
}

bool read_fails(FILE* stream, const void* caller) {
  if (!fails(hit_file(kIoRead, fileno(stream), caller))) {
    return false;
  }
  set_stream_error(stream);
  return true;
}

// Only where nothing is left in the stream's buffer is the file read.
bool get_fails(FILE* stream, const void* caller) {
  return stream->_IO_read_ptr >= stream->_IO_read_end &&
         read_fails(stream, caller);
}

}  // namespace
}  // namespace mishap::preload

using namespace mishap::preload;

MISHAP_INTERPOSE ssize_t read(int descriptor, void* to, size_t size) {
  return read_some(real.read, descriptor, to, size, MISHAP_CALLER);
}

MISHAP_INTERPOSE ssize_t pread(int descriptor, void* to, size_t size,
                               off_t at) {
  return read_some(real.pread, descriptor, to, size, MISHAP_CALLER, at);
}

MISHAP_INTERPOSE ssize_t pread64(int descriptor, void* to, size_t size,
                                 off64_t at) {
  return read_some(real.pread64, descriptor, to, size, MISHAP_CALLER, at);
}

MISHAP_INTERPOSE ssize_t __read_chk(int descriptor, void* to, size_t size,
                                    size_t room) {
  return read_some(real.__read_chk, descriptor, to, size, MISHAP_CALLER, room);
}

MISHAP_INTERPOSE ssize_t __pread_chk(int descriptor, void* to, size_t size,
                                     off_t at, size_t room) {
  return read_some(real.__pread_chk, descriptor, to, size, MISHAP_CALLER, at,
                   room);
}

MISHAP_INTERPOSE ssize_t __pread64_chk(int descriptor, void* to, size_t size,
                                       off64_t at, size_t room) {
  return read_some(real.__pread64_chk, descriptor, to, size, MISHAP_CALLER, at,
                   room);
}

MISHAP_INTERPOSE ssize_t readv(int descriptor, const iovec* parts, int count) {
  return read_parts(real.readv, descriptor, parts, count, MISHAP_CALLER);
}

MISHAP_INTERPOSE ssize_t preadv(int descriptor, const iovec* parts, int count,
                                off_t at) {
  return read_parts(real.preadv, descriptor, parts, count, MISHAP_CALLER, at);
}

MISHAP_INTERPOSE ssize_t preadv64(int descriptor, const iovec* parts, int count,
                                  off64_t at) {
  return read_parts(real.preadv64, descriptor, parts, count, MISHAP_CALLER, at);
}

MISHAP_INTERPOSE ssize_t preadv2(int descriptor, const iovec* parts, int count,
                                 off_t at, int flags) {
  return read_parts(real.preadv2, descriptor, parts, count, MISHAP_CALLER, at,
                    flags);
}

MISHAP_INTERPOSE ssize_t preadv64v2(int descriptor, const iovec* parts,
                                    int count, off64_t at, int flags) {
  return read_parts(real.preadv64v2, descriptor, parts, count, MISHAP_CALLER,
                    at, flags);
}

MISHAP_INTERPOSE size_t fread(void* to, size_t size, size_t count,
                              FILE* stream) {
  return read_stream(to, size, count, stream, MISHAP_CALLER);
}

MISHAP_INTERPOSE size_t __fread_chk(void* to, size_t room, size_t size,
                                    size_t count, FILE* stream) {
  if (count != 0 && size > room / count) {
    // What it checks is the compiler's business.
    return real.__fread_chk(to, room, size, count, stream);
  }
  return read_stream(to, size, count, stream, MISHAP_CALLER);
}

MISHAP_INTERPOSE char* fgets(char* to, int size, FILE* stream) {
  return read_fails(stream, MISHAP_CALLER) ? nullptr
                                           : real.fgets(to, size, stream);
}

MISHAP_INTERPOSE char* __fgets_chk(char* to, size_t room, int size,
                                   FILE* stream) {
  return read_fails(stream, MISHAP_CALLER)
             ? nullptr
             : real.__fgets_chk(to, room, size, stream);
}

MISHAP_INTERPOSE ssize_t getline(char** line, size_t* room, FILE* stream) {
  return read_fails(stream, MISHAP_CALLER) ? -1
                                           : real.getline(line, room, stream);
}

MISHAP_INTERPOSE ssize_t getdelim(char** line, size_t* room, int end,
                                  FILE* stream) {
  return read_fails(stream, MISHAP_CALLER)
             ? -1
             : real.getdelim(line, room, end, stream);
}

MISHAP_INTERPOSE int fgetc(FILE* stream) {
  return get_fails(stream, MISHAP_CALLER) ? EOF : real.fgetc(stream);
}

MISHAP_INTERPOSE int getc(FILE* stream) {
  return get_fails(stream, MISHAP_CALLER) ? EOF : real.getc(stream);
}

MISHAP_INTERPOSE int fgetc_unlocked(FILE* stream) {
  return get_fails(stream, MISHAP_CALLER) ? EOF : real.fgetc_unlocked(stream);
}

MISHAP_INTERPOSE int getc_unlocked(FILE* stream) {
  return get_fails(stream, MISHAP_CALLER) ? EOF : real.getc_unlocked(stream);
}

// What the macros of getc_unlocked() and the like call where the buffer is
// empty.
MISHAP_INTERPOSE int __uflow(FILE* stream) {
  return get_fails(stream, MISHAP_CALLER) ? EOF : real.__uflow(stream);
}

MISHAP_INTERPOSE int __isoc99_vfscanf(FILE* stream, const char* format,
                                      va_list list) {
  return read_fails(stream, MISHAP_CALLER)
             ? EOF
             : real.__isoc99_vfscanf(stream, format, list);
}

MISHAP_INTERPOSE int __isoc99_fscanf(FILE* stream, const char* format, ...) {
  if (read_fails(stream, MISHAP_CALLER)) {
    return EOF;
  }
  va_list list;
  va_start(list, format);
  const int read = real.__isoc99_vfscanf(stream, format, list);
  va_end(list);
  return read;
}

// The same by the name that headers of glibc 2.38 and later give it.
MISHAP_INTERPOSE int __isoc23_vfscanf(FILE* stream, const char* format,
                                      va_list list) {
  return read_fails(stream, MISHAP_CALLER)
             ? EOF
             : real.__isoc23_vfscanf(stream, format, list);
}

MISHAP_INTERPOSE int __isoc23_fscanf(FILE* stream, const char* format, ...) {
  if (read_fails(stream, MISHAP_CALLER)) {
    return EOF;
  }
  va_list list;
  va_start(list, format);
  const int read = real.__isoc23_vfscanf(stream, format, list);
  va_end(list);
  return read;
}
