// Calls that write what a stream holds: io/write. Here a full disk is noticed
// for real, since most calls before only fill a buffer.
#include <mishap/trainer/harness/preload/file_hits.h>
#include <mishap/trainer/harness/preload/real_calls.h>
#include <mishap/trainer/harness/preload/stream_flush.h>
#include <stdio_ext.h>

#include <algorithm>

namespace mishap::preload {
namespace {

using faultinject::ActionKind;

// _IO_UNBUFFERED: the same since glibc 2.0.
constexpr int kUnbuffered = 0x2;

// Less of it is written, as much as fits.
void flush_part(std::FILE* stream, std::size_t size) noexcept {
  if (stream->_mode <= 0) {
    stream->_IO_write_ptr = stream->_IO_write_base + size;
    real.fflush(stream);
  }
}

// One more character is more than the buffer holds.
bool writes_now(std::FILE* stream, int character) noexcept {
  if ((stream->_flags & kUnbuffered) != 0) {
    return true;
  }
  if (__flbf(stream) != 0 && character == '\n') {
    return true;
  }
  return holds_unwritten(stream) && __fpending(stream) >= __fbufsize(stream);
}

bool put_fails(int character, std::FILE* stream, const void* caller) {
  return looks_at_files() && writes_now(stream, character) &&
         flush_fails(stream, caller);
}

template <typename Function>
int put(Function& function, int character, std::FILE* stream,
        const void* caller) {
  return put_fails(character, stream, caller) ? EOF
                                              : function(character, stream);
}

}  // namespace

bool holds_unwritten(std::FILE* stream) noexcept {
  return __fpending(stream) > 0;
}

bool flush_fails(std::FILE* stream, const void* caller) {
  const Strike strike = hit_write(fileno(stream), caller);
  // A write that was short is followed by another one.
  if (!strike || strike.kind == ActionKind::kShort) {
    return false;
  }
  if (strike.kind == ActionKind::kTorn) {
    const std::size_t size = std::max<std::size_t>(__fpending(stream), 1);
    const std::size_t part = part_of(strike, size);
    if (part == size) {
      return false;
    }
    if (part > 0) {
      flush_part(stream, part);
    }
    errno = ENOSPC;
  } else {
    fails(strike);
  }
  const int error = errno;
  __fpurge(stream);
  set_stream_error(stream);
  errno = error;
  return true;
}

}  // namespace mishap::preload

using namespace mishap::preload;

MISHAP_INTERPOSE int fflush(FILE* stream) {
  return stream != nullptr && holds_unwritten(stream) &&
                 flush_fails(stream, MISHAP_CALLER)
             ? EOF
             : real.fflush(stream);
}

MISHAP_INTERPOSE int fputc(int character, FILE* stream) {
  return put(real.fputc, character, stream, MISHAP_CALLER);
}

MISHAP_INTERPOSE int putc(int character, FILE* stream) {
  return put(real.putc, character, stream, MISHAP_CALLER);
}

MISHAP_INTERPOSE int fputc_unlocked(int character, FILE* stream) {
  return put(real.fputc_unlocked, character, stream, MISHAP_CALLER);
}

MISHAP_INTERPOSE int putc_unlocked(int character, FILE* stream) {
  return put(real.putc_unlocked, character, stream, MISHAP_CALLER);
}

// What the macros of putc_unlocked() and the like call where the buffer is
// full.
MISHAP_INTERPOSE int __overflow(FILE* stream, int character) {
  return put_fails(character, stream, MISHAP_CALLER)
             ? EOF
             : real.__overflow(stream, character);
}
