#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/obstacles.h>
#include <mishap/trainer/harness/preload/open_descriptors.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace mishap::preload {
namespace {

using program::Obstacle;

bool is_device(std::string_view path) noexcept {
  return path.starts_with("/dev/nvidia") || path.starts_with("/dev/kfd") ||
         path.starts_with("/dev/dri/");
}

std::string_view path_of(int descriptor, std::array<char, 256>& room) noexcept {
  std::array<char, 32> link{"/proc/self/fd/"};
  std::to_chars(link.data() + std::strlen(link.data()),
                link.data() + link.size() - 1, descriptor);
  const ssize_t size = readlink(link.data(), room.data(), room.size());
  return {room.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

struct Inherited {
  int descriptor = -1;
  ino_t inode = 0;
};
constinit std::array<Inherited, 64> inherited{};
constinit std::size_t inherited_count = 0;

bool is_inherited(int descriptor, ino_t inode) noexcept {
  for (std::size_t i = 0; i < inherited_count; ++i) {
    if (inherited[i].descriptor == descriptor && inherited[i].inode == inode) {
      return true;
    }
  }
  return descriptor <= STDERR_FILENO;
}

std::uint32_t look_at(int descriptor) noexcept {
  struct stat about {};
  if (fstat(descriptor, &about) != 0) {
    return 0;
  }
  const bool is_standard = is_inherited(descriptor, about.st_ino);
  if (S_ISSOCK(about.st_mode)) {
    return is_standard ? 0 : static_cast<std::uint32_t>(Obstacle::kSockets);
  }
  // Events and the like have no type; what is in them would be shared.
  if (S_ISFIFO(about.st_mode) || (about.st_mode & S_IFMT) == 0) {
    return is_standard ? 0 : static_cast<std::uint32_t>(Obstacle::kPipes);
  }
  std::array<char, 256> room;
  if (S_ISCHR(about.st_mode) && is_device(path_of(descriptor, room))) {
    return static_cast<std::uint32_t>(Obstacle::kDevice);
  }
  return 0;
}

// A line of /proc/self/maps: range, access, offset, device, inode, path.
std::uint32_t look_at(std::string_view line, ino_t control) noexcept {
  const std::size_t access = line.find(' ') + 1;
  if (access == 0 || access + 4 > line.size() || line[access + 1] != 'w' ||
      line[access + 3] != 's') {
    return 0;
  }
  std::size_t inode = access;
  for (int word = 0; word < 3; ++word) {
    inode = line.find(' ', inode) + 1;
  }
  ino_t number = 0;
  std::from_chars(line.data() + inode, line.data() + line.size(), number);
  if (number == control) {
    return 0;
  }
  const std::size_t path = line.find('/');
  return static_cast<std::uint32_t>(path != std::string_view::npos &&
                                            is_device(line.substr(path))
                                        ? Obstacle::kDevice
                                        : Obstacle::kSharedMemory);
}

std::uint32_t look_at_mappings() noexcept {
  const int file = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (file < 0) {
    return 0;
  }
  std::array<char, 1 << 15> text;
  std::size_t held = 0;
  std::uint32_t found = 0;
  long got = 0;
  while ((got = syscall(SYS_read, file, text.data() + held,
                        text.size() - held)) > 0) {
    std::string_view rest(text.data(), held + static_cast<std::size_t>(got));
    std::size_t end = 0;
    while ((end = rest.find('\n')) != std::string_view::npos) {
      found |= look_at(rest.substr(0, end), agent.control_inode);
      rest.remove_prefix(end + 1);
    }
    held = rest.size();
    std::memmove(text.data(), rest.data(), held);
  }
  syscall(SYS_close, file);
  return found;
}

bool has_children() noexcept {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 ||
         errno != ECHILD;
}

// A forked child has none of them, and would wait for ever for their signal.
bool has_timers() noexcept {
  for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer{};
    if (getitimer(which, &timer) == 0 &&
        (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0)) {
      return true;
    }
  }
  const auto file = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, "/proc/self/timers", O_RDONLY | O_CLOEXEC));
  if (file < 0) {
    return false;
  }
  char first = 0;
  const bool has_posix_timer = syscall(SYS_read, file, &first, 1) == 1;
  syscall(SYS_close, file);
  return has_posix_timer;
}

}  // namespace

void note_inherited() noexcept {
  for_each_descriptor([](int descriptor) {
    struct stat about {};
    if (inherited_count < inherited.size() && fstat(descriptor, &about) == 0) {
      inherited[inherited_count++] = {descriptor, about.st_ino};
    }
  });
}

std::uint32_t thread_count() noexcept {
  struct stat tasks {};
  // A folder a thread, and the two names of the folder itself.
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2
             ? static_cast<std::uint32_t>(tasks.st_nlink - 2)
             : 1;
}

std::uint32_t obstacles_to_fork() noexcept {
  std::uint32_t found = 0;
  if (thread_count() > 1) {
    found |= static_cast<std::uint32_t>(Obstacle::kThreads);
  }
  if (has_children()) {
    found |= static_cast<std::uint32_t>(Obstacle::kChildren);
  }
  if (has_timers()) {
    found |= static_cast<std::uint32_t>(Obstacle::kTimers);
  }
  for_each_descriptor([&](int descriptor) { found |= look_at(descriptor); });
  return found | look_at_mappings();
}

}  // namespace mishap::preload
