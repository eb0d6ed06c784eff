#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>

// What glibc's headers show with _FORTIFY_SOURCE only, or not at all.
extern "C" {
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);
ssize_t __read_chk(int file, void* to, size_t size, size_t room);
ssize_t __pread_chk(int file, void* to, size_t size, off_t at, size_t room);
ssize_t __pread64_chk(int file, void* to, size_t size, off64_t at, size_t room);
size_t __fread_chk(void* to, size_t room, size_t size, size_t count,
                   FILE* file);
char* __fgets_chk(char* to, size_t room, int size, FILE* file);
int __vfprintf_chk(FILE* file, int flag, const char* format, va_list list);
int __vdprintf_chk(int file, int flag, const char* format, va_list list);
int __isoc99_vfscanf(FILE* file, const char* format, va_list list);
int __isoc23_vfscanf(FILE* file, const char* format, va_list list);
int __overflow(FILE* file, int character);
int __uflow(FILE* file);
}

namespace mishap::preload {

void* find_next(const char* name) noexcept;

/// A function that the library stands in front of: the one that would be called
/// without it.
template <typename Function>
class Real {
 public:
  constexpr explicit Real(const char* name) noexcept : name_(name) {}

  /// Takes the loader's lock at its first use.
  Function* get() noexcept {
    Function* found = function_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = reinterpret_cast<Function*>(find_next(name_));
      function_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    return get()(arguments...);
  }

 private:
  const char* name_;
  std::atomic<Function*> function_{nullptr};
};

// clang-format off
#define MISHAP_REAL_CALLS(X) \
  X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64) X(__open_2) \
  X(__open64_2) X(__openat_2) X(__openat64_2) X(fopen) X(fopen64) \
  X(freopen) X(freopen64) X(read) X(pread) X(pread64) X(readv) X(preadv) \
  X(preadv64) X(__read_chk) X(__pread_chk) X(__pread64_chk) X(__fread_chk) \
  X(__fgets_chk) X(fread) X(fgets) X(getline) X(getdelim) X(write) \
  X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64) X(fwrite) \
  X(fflush) X(fputs) X(vfprintf) X(__vfprintf_chk) X(fsync) X(fdatasync) \
  X(rename) X(renameat) X(renameat2) X(close) X(fclose) X(mkdir) X(mkdirat) \
  X(dup2) X(dup3) X(unlink) X(unlinkat) X(rmdir) X(remove) X(truncate) \
  X(truncate64) X(ftruncate) X(ftruncate64) X(link) X(linkat) X(symlink) \
  X(symlinkat) X(posix_memalign) X(preadv2) X(preadv64v2) X(fgetc) X(getc) \
  X(__uflow) X(__isoc99_vfscanf) X(__isoc23_vfscanf) X(pwritev2) \
  X(pwritev64v2) X(fputc) X(putc) X(__overflow) X(vdprintf) \
  X(__vdprintf_chk) X(sendfile) X(sendfile64) X(copy_file_range) \
  X(fallocate) X(fallocate64) X(posix_fallocate) X(posix_fallocate64) \
  X(mkstemp) X(mkstemp64) X(mkostemp) X(mkostemp64) \
  X(fgetc_unlocked) X(getc_unlocked) X(fputc_unlocked) X(putc_unlocked)
// clang-format on

struct RealCalls {
#define MISHAP_REAL_MEMBER(name) Real<decltype(::name)> name{#name};
  MISHAP_REAL_CALLS(MISHAP_REAL_MEMBER)
#undef MISHAP_REAL_MEMBER

  /// Looks all of them up, so that a signal handler is not the first to.
  void look_up() noexcept {
#define MISHAP_REAL_GET(name) name.get();
    MISHAP_REAL_CALLS(MISHAP_REAL_GET)
#undef MISHAP_REAL_GET
  }
};

extern constinit RealCalls real;

}  // namespace mishap::preload

/// In front of a function that other libraries are to find here.
#define MISHAP_INTERPOSE extern "C" [[gnu::visibility("default")]]
