#include <mishap/collector/crash/memory_evidence.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

namespace mishap::collector {
namespace {

// Version 1 says "no limit" by a number that no machine has.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// The number behind the word, in lines of `word number`.
std::optional<std::int64_t> number_behind(const std::string& path,
                                          std::string_view word) {
  std::ifstream file(path);
  std::string name;
  std::int64_t number = 0;
  while (file >> name >> number) {
    if (name == word) return number;
  }
  return std::nullopt;
}

bool has_word(const std::string& list, std::string_view word) {
  std::istringstream words(list);
  for (std::string part; std::getline(words, part, ',');) {
    if (part == word) return true;
  }
  return false;
}

struct Group {
  std::string path;
  bool is_unified = false;
};

// The lines of /proc/PID/cgroup are `number:controllers:path`.
std::optional<Group> memory_group(pid_t process, const std::string& root) {
  std::ifstream file(root + "/proc/" + std::to_string(process) + "/cgroup");
  std::optional<Group> unified;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (has_word(controllers, "memory")) return Group{path, false};
    if (controllers.empty()) unified = Group{path, true};
  }
  return unified;
}

// In a container the group's path may be that of the host, while what is
// mounted begins at the container's own group.
std::string folder_of(const Group& group, const std::string& root) {
  const std::string mount =
      root + (group.is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
  const std::string file =
      group.is_unified ? "/memory.events" : "/memory.oom_control";
  std::string path = group.path == "/" ? "" : group.path;
  return std::ifstream(mount + path + file) ? mount + path : mount;
}

}  // namespace

MemoryEvidence memory_evidence(pid_t process, const std::string& root) {
  MemoryEvidence evidence;
  const auto group = memory_group(process, root);
  if (!group) return evidence;
  const std::string folder = folder_of(*group, root);
  if (group->is_unified) {
    evidence.oom_kills = number_behind(folder + "/memory.events", "oom_kill");
    evidence.peak_bytes = number_in(folder + "/memory.peak");
    evidence.limit_bytes = number_in(folder + "/memory.max");
  } else {
    evidence.oom_kills =
        number_behind(folder + "/memory.oom_control", "oom_kill");
    evidence.peak_bytes = number_in(folder + "/memory.max_usage_in_bytes");
    evidence.limit_bytes = number_in(folder + "/memory.limit_in_bytes");
  }
  if (evidence.limit_bytes.value_or(0) >= kNoLimit) {
    evidence.limit_bytes.reset();
  }
  return evidence;
}

}  // namespace mishap::collector
