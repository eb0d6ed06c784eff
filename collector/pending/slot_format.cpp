#include <linux/magic.h>
#include <mishap/collector/pending/slot_format.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <sstream>

namespace mishap::collector {

std::uint64_t slot_checksum(std::string_view text) noexcept {
  std::uint64_t sum = text.size();
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), size);
    sum = (std::rotl(sum, 23) ^ word) * 0x9e37'79b9'7f4a'7c15;
    text.remove_prefix(size);
  }
  return sum;
}

std::vector<std::string> slot_fallback_folders() {
  std::vector<std::string> folders;
  const auto add_variable = [&folders](const char* name) {
    const char* const value = getenv(name);
    if (value != nullptr && *value == '/') folders.emplace_back(value);
  };
  add_variable("XDG_RUNTIME_DIR");
  folders.emplace_back("/dev/shm");
  add_variable("TMPDIR");
  folders.emplace_back("/tmp");
  return folders;
}

const std::string& boot_id() {
  static const std::string kId = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
  }();
  return kId;
}

std::uint64_t own_start_ticks() {
  // A forked child has an id of its own, and so another entry here.
  static std::atomic<std::int64_t> known_pid{0};
  static std::atomic<std::uint64_t> known_ticks{0};
  const std::int64_t pid = getpid();
  if (known_pid.load(std::memory_order_acquire) != pid) {
    known_ticks.store(start_ticks(pid).value_or(0));
    known_pid.store(pid, std::memory_order_release);
  }
  return known_ticks.load();
}

bool is_safe_to_map(int file) {
  struct statfs status {};
  if (fstatfs(file, &status) != 0) return false;
  switch (status.f_type) {
    case TMPFS_MAGIC:
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
      return true;
    default:
      return false;
  }
}

std::optional<std::uint64_t> start_ticks(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The second field, the program's name in brackets, may hold anything.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  constexpr int kFieldsBefore = 19;
  for (int i = 0; i < kFieldsBefore; ++i) fields >> field;
  std::uint64_t ticks = 0;
  if (!(fields >> ticks)) return std::nullopt;
  return ticks;
}

}  // namespace mishap::collector
