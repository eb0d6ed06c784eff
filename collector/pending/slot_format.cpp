#include <mishap/collector/pending/slot_format.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>

namespace mishap::collector {

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

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
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
