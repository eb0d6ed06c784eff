#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

namespace mishap::preload {

/// Calls `visit` with each open descriptor of this process but its own.
/// Allocates nothing.
template <typename Visit>
void for_each_descriptor(Visit visit) noexcept {
  const auto folder =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/fd",
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder < 0) {
    return;
  }
  struct Entry {
    ino64_t inode;
    off64_t offset;
    unsigned short size;
    unsigned char type;
    char name[1];
  };
  alignas(Entry) char entries[4096];
  long size = 0;
  while ((size = syscall(SYS_getdents64, folder, entries, sizeof entries)) >
         0) {
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries + at);
      const std::string_view name = entry->name;
      int number = -1;
      std::from_chars(name.data(), name.data() + name.size(), number);
      if (number >= 0 && number != folder) {
        visit(number);
      }
      at += entry->size;
    }
  }
  syscall(SYS_close, folder);
}

}  // namespace mishap::preload
