#include <mishap/collector/io/reserved_descriptor.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace mishap::collector {
namespace {

constexpr int kNoDescriptor = -1;
constexpr int kBusyDescriptor = -2;

constinit std::atomic<int> reserved = kNoDescriptor;
// The file behind it. A program that becomes a daemon closes all descriptors,
// and what has the number then is not ours to close.
constinit dev_t reserved_device = 0;
constinit ino_t reserved_inode = 0;

bool is_still_ours(int file) noexcept {
  struct stat status {};
  return fstat(file, &status) == 0 && status.st_dev == reserved_device &&
         status.st_ino == reserved_inode;
}

}  // namespace

void reserve_descriptor() noexcept {
  const int saved_errno = errno;
  int held = reserved.load();
  if (held == kBusyDescriptor || (held >= 0 && is_still_ours(held)) ||
      !reserved.compare_exchange_strong(held, kBusyDescriptor)) {
    errno = saved_errno;
    return;
  }
  int file = memfd_create("mishap-reserved", MFD_CLOEXEC);
  struct stat status {};
  if (file >= 0 && fstat(file, &status) != 0) {
    close(file);
    file = kNoDescriptor;
  }
  reserved_device = status.st_dev;
  reserved_inode = status.st_ino;
  reserved.store(file < 0 ? kNoDescriptor : file);
  errno = saved_errno;
}

bool release_reserved_descriptor() noexcept {
  int held = reserved.load();
  if (held < 0 || !reserved.compare_exchange_strong(held, kBusyDescriptor))
    return false;
  const int saved_errno = errno;
  const bool ours = is_still_ours(held);
  if (ours) close(held);
  reserved.store(kNoDescriptor);
  errno = saved_errno;
  return ours;
}

}  // namespace mishap::collector
