#include "failing_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <new>

extern "C" {
// The C library's own, under the names that it keeps for replacements.
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* memory, std::size_t size) noexcept;
}

namespace mishap {
namespace {

struct Calls {
  std::size_t number = 0;
  std::size_t count = 0;
  std::array<std::size_t, kCallKinds> kinds{};
  const char* failed = nullptr;
};
constinit Calls calls;
constinit std::array<const char*, 16'384> names{};
[[gnu::tls_model("initial-exec")]] constinit thread_local int watched = 0;

bool fails(CallKind kind, const char* name) noexcept {
  if (watched == 0) return false;
  ++calls.kinds[static_cast<std::size_t>(kind)];
  if (calls.count < names.size()) names[calls.count] = name;
  if (++calls.count != calls.number) return false;
  calls.failed = name;
  return true;
}

template <typename Function>
Function next(const char* name) noexcept {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool system_call_fails(const char* name, int error) noexcept {
  if (!fails(CallKind::kSystemCall, name)) return false;
  errno = error;
  return true;
}

}  // namespace

void FailingCalls::fail(std::size_t number) noexcept {
  calls = {};
  calls.number = number;
}
std::size_t FailingCalls::count() noexcept { return calls.count; }
std::size_t FailingCalls::count(CallKind kind) noexcept {
  return calls.kinds[static_cast<std::size_t>(kind)];
}
const char* FailingCalls::failed() noexcept { return calls.failed; }
const char* FailingCalls::name(std::size_t number) noexcept {
  const bool known = number > 0 && number <= calls.count;
  return known && number <= names.size() ? names[number - 1] : nullptr;
}

FailingCalls::Watched::Watched() noexcept { ++watched; }
FailingCalls::Watched::~Watched() { --watched; }

}  // namespace mishap

using mishap::CallKind;
using mishap::fails;
using mishap::next;
using mishap::system_call_fails;

// NOLINTBEGIN(readability-identifier-naming)
#define MISHAP_CALL(result, name, parameters, arguments, failure, error) \
  extern "C" result name parameters {                                    \
    static const auto real = next<result(*) parameters>(#name);          \
    if (system_call_fails(#name, error)) return failure;                 \
    return real arguments;                                               \
  }

MISHAP_CALL(ssize_t, write, (int file, const void* data, std::size_t size),
            (file, data, size), -1, EIO)
MISHAP_CALL(ssize_t, writev, (int file, const iovec* parts, int count),
            (file, parts, count), -1, ENOSPC)
MISHAP_CALL(ssize_t, pwrite,
            (int file, const void* data, std::size_t size, off_t at),
            (file, data, size, at), -1, ENOSPC)
MISHAP_CALL(ssize_t, read, (int file, void* data, std::size_t size),
            (file, data, size), -1, EIO)
MISHAP_CALL(ssize_t, pread, (int file, void* data, std::size_t size, off_t at),
            (file, data, size, at), -1, EIO)
MISHAP_CALL(ssize_t, readlink, (const char* path, char* out, std::size_t size),
            (path, out, size), -1, EACCES)
MISHAP_CALL(int, fstat, (int file, struct stat* out), (file, out), -1, EIO)
MISHAP_CALL(int, stat, (const char* path, struct stat* out), (path, out), -1,
            EACCES)
MISHAP_CALL(int, lstat, (const char* path, struct stat* out), (path, out), -1,
            EACCES)
MISHAP_CALL(int, fstatfs, (int file, struct statfs* out), (file, out), -1, EIO)
MISHAP_CALL(int, ftruncate, (int file, off_t size), (file, size), -1, EIO)
MISHAP_CALL(int, fsync, (int file), (file), -1, EIO)
MISHAP_CALL(int, unlink, (const char* path), (path), -1, EROFS)
MISHAP_CALL(int, mkdir, (const char* path, mode_t mode), (path, mode), -1,
            EROFS)
MISHAP_CALL(int, flock, (int file, int operation), (file, operation), -1,
            EWOULDBLOCK)
MISHAP_CALL(int, memfd_create, (const char* name, unsigned flags),
            (name, flags), -1, EMFILE)
MISHAP_CALL(void*, mmap,
            (void* at, std::size_t size, int protection, int flags, int file,
             off_t offset),
            (at, size, protection, flags, file, offset), MAP_FAILED, ENOMEM)

extern "C" int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode =
      (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (system_call_fails("open", EMFILE)) return -1;
  return real(path, flags, mode);
}

// The descriptor is gone, as the kernel has it.
extern "C" int close(int file) {
  static const auto real = next<int (*)(int)>("close");
  const int result = real(file);
  return system_call_fails("close", EIO) ? -1 : result;
}

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto real =
      next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
  return fails(CallKind::kLock, "pthread_mutex_lock") ? EAGAIN : real(mutex);
}

extern "C" int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static const auto real =
      next<int (*)(pthread_mutex_t*)>("pthread_mutex_trylock");
  return fails(CallKind::kLock, "pthread_mutex_trylock") ? EBUSY : real(mutex);
}

extern "C" void* malloc(std::size_t size) noexcept {
  if (fails(CallKind::kAllocation, "malloc")) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(size);
}

extern "C" void* calloc(std::size_t count, std::size_t size) noexcept {
  if (fails(CallKind::kAllocation, "calloc")) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_calloc(count, size);
}

extern "C" void* realloc(void* memory, std::size_t size) noexcept {
  if (fails(CallKind::kAllocation, "realloc")) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_realloc(memory, size);
}
// NOLINTEND(readability-identifier-naming)
