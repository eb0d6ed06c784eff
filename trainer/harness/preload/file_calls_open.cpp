// Calls that open files: io/open.
#include <mishap/trainer/harness/preload/file_filter.h>
#include <mishap/trainer/harness/preload/file_hits.h>
#include <mishap/trainer/harness/preload/file_path.h>
#include <mishap/trainer/harness/preload/open_files.h>
#include <mishap/trainer/harness/preload/real_calls.h>
#include <mishap/trainer/harness/preload/torch_watch.h>
#include <mishap/trainer/harness/preload/touched.h>

#include <cstdarg>
#include <cstring>

namespace mishap::preload {
namespace {

/// One call that opens, from before it is done until after.
class Opening {
 public:
  Opening(int folder, const char* path, int flags, const void* caller)
      : flags_(flags) {
    if (!looks_at_files()) {
      return;
    }
    {
      const Inside inside;
      if (getpid() != agent.process) {
        return;
      }
      look_for_torch();
      was_there_ = (flags & O_CREAT) == 0 || is_there(folder, path);
    }
    is_seen_ = true;
    strike_ = hit_path(kIoOpen, folder, path, caller);
  }

  bool fails() const noexcept { return preload::fails(strike_); }

  int done(int descriptor) const noexcept {
    if (descriptor >= 0 && is_seen_ && may_write()) {
      const Inside inside;
      tell(descriptor);
    }
    return descriptor;
  }

  FILE* done(FILE* stream) const noexcept {
    if (stream != nullptr) {
      done(fileno(stream));
    }
    return stream;
  }

 private:
  static bool is_there(int folder, const char* path) noexcept {
    struct stat about {};
    return path != nullptr && fstatat(folder, path, &about, 0) == 0;
  }

  bool may_write() const noexcept {
    return (flags_ & O_ACCMODE) != O_RDONLY || (flags_ & O_CREAT) != 0 ||
           (flags_ & O_TRUNC) != 0;
  }

  void tell(int descriptor) const noexcept {
    const std::uint32_t path = open_file(descriptor).told_path;
    if ((flags_ & O_ACCMODE) != O_RDONLY || (flags_ & O_TRUNC) != 0) {
      touch(path, program::Touch::kWritten);
    }
    if (!was_there_) {
      touch(path, program::Touch::kCreated);
    }
    if (!was_there_ || (flags_ & O_TRUNC) != 0) {
      note_written(descriptor);
    }
  }

  int flags_;
  bool is_seen_ = false;
  bool was_there_ = true;
  Strike strike_;
};

bool has_mode(int flags) noexcept {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

int flags_of(const char* mode) noexcept {
  const bool is_both = std::strchr(mode, '+') != nullptr;
  switch (*mode) {
    case 'w':
      return (is_both ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC;
    case 'a':
      return (is_both ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND;
    default:
      return is_both ? O_RDWR : O_RDONLY;
  }
}

template <typename Function>
int open_at(Function& function, int folder, const char* path, int flags,
            mode_t mode, const void* caller) {
  const Opening opening(folder, path, flags, caller);
  return opening.fails() ? -1
                         : opening.done(function(folder, path, flags, mode));
}

template <typename Function>
int open_here(Function& function, const char* path, int flags, mode_t mode,
              const void* caller) {
  const Opening opening(AT_FDCWD, path, flags, caller);
  return opening.fails() ? -1 : opening.done(function(path, flags, mode));
}

template <typename Function>
int create(Function& function, const char* path, mode_t mode,
           const void* caller) {
  const Opening opening(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, caller);
  return opening.fails() ? -1 : opening.done(function(path, mode));
}

template <typename Function, typename... More>
int create_temporary(Function& function, char* path, const void* caller,
                     More... more) {
  const Opening opening(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, caller);
  return opening.fails() ? -1 : opening.done(function(path, more...));
}

template <typename Function>
FILE* open_stream(Function& function, const char* path, const char* mode,
                  const void* caller) {
  const Opening opening(AT_FDCWD, path, flags_of(mode), caller);
  return opening.fails() ? nullptr : opening.done(function(path, mode));
}

template <typename Function>
FILE* open_again(Function& function, const char* path, const char* mode,
                 FILE* stream, const void* caller) {
  if (path == nullptr) {
    return function(path, mode, stream);
  }
  const Opening opening(AT_FDCWD, path, flags_of(mode), caller);
  if (opening.fails()) {
    // As the real one: the stream is closed when the file can't be opened.
    const int error = errno;
    real.fclose(stream);
    errno = error;
    return nullptr;
  }
  return opening.done(function(path, mode, stream));
}

}  // namespace
}  // namespace mishap::preload

using namespace mishap::preload;

#define MISHAP_MODE_ARGUMENT(flags) \
  mode_t mode = 0;                  \
  if (has_mode(flags)) {            \
    va_list list;                   \
    va_start(list, flags);          \
    mode = va_arg(list, mode_t);    \
    va_end(list);                   \
  }

MISHAP_INTERPOSE int open(const char* path, int flags, ...) {
  MISHAP_MODE_ARGUMENT(flags)
  return open_here(real.open, path, flags, mode, MISHAP_CALLER);
}

MISHAP_INTERPOSE int open64(const char* path, int flags, ...) {
  MISHAP_MODE_ARGUMENT(flags)
  return open_here(real.open64, path, flags, mode, MISHAP_CALLER);
}

MISHAP_INTERPOSE int openat(int folder, const char* path, int flags, ...) {
  MISHAP_MODE_ARGUMENT(flags)
  return open_at(real.openat, folder, path, flags, mode, MISHAP_CALLER);
}

MISHAP_INTERPOSE int openat64(int folder, const char* path, int flags, ...) {
  MISHAP_MODE_ARGUMENT(flags)
  return open_at(real.openat64, folder, path, flags, mode, MISHAP_CALLER);
}

MISHAP_INTERPOSE int __open_2(const char* path, int flags) {
  return open_here(real.open, path, flags, 0, MISHAP_CALLER);
}

MISHAP_INTERPOSE int __open64_2(const char* path, int flags) {
  return open_here(real.open64, path, flags, 0, MISHAP_CALLER);
}

MISHAP_INTERPOSE int __openat_2(int folder, const char* path, int flags) {
  return open_at(real.openat, folder, path, flags, 0, MISHAP_CALLER);
}

MISHAP_INTERPOSE int __openat64_2(int folder, const char* path, int flags) {
  return open_at(real.openat64, folder, path, flags, 0, MISHAP_CALLER);
}

MISHAP_INTERPOSE int creat(const char* path, mode_t mode) {
  return create(real.creat, path, mode, MISHAP_CALLER);
}

MISHAP_INTERPOSE int creat64(const char* path, mode_t mode) {
  return create(real.creat64, path, mode, MISHAP_CALLER);
}

MISHAP_INTERPOSE FILE* fopen(const char* path, const char* mode) {
  return open_stream(real.fopen, path, mode, MISHAP_CALLER);
}

MISHAP_INTERPOSE FILE* fopen64(const char* path, const char* mode) {
  return open_stream(real.fopen64, path, mode, MISHAP_CALLER);
}

MISHAP_INTERPOSE FILE* freopen(const char* path, const char* mode,
                               FILE* stream) {
  return open_again(real.freopen, path, mode, stream, MISHAP_CALLER);
}

MISHAP_INTERPOSE FILE* freopen64(const char* path, const char* mode,
                                 FILE* stream) {
  return open_again(real.freopen64, path, mode, stream, MISHAP_CALLER);
}

MISHAP_INTERPOSE int mkstemp(char* path) {
  return create_temporary(real.mkstemp, path, MISHAP_CALLER);
}

MISHAP_INTERPOSE int mkstemp64(char* path) {
  return create_temporary(real.mkstemp64, path, MISHAP_CALLER);
}

MISHAP_INTERPOSE int mkostemp(char* path, int flags) {
  return create_temporary(real.mkostemp, path, MISHAP_CALLER, flags);
}

MISHAP_INTERPOSE int mkostemp64(char* path, int flags) {
  return create_temporary(real.mkostemp64, path, MISHAP_CALLER, flags);
}
