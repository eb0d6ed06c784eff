#include <mishap/collector/clock.h>
#include <mishap/collector/show/text.h>
#include <mishap/trainer/harness/cli/probe_parts.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace mishap::cli {
namespace {

using Status = Finding::Status;
namespace fs = std::filesystem;

constexpr std::int64_t kLittleRoom = 100'000'000;

Finding look_at_room() {
  fs::path folder = doctors_folder();
  while (!fs::exists(folder) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  struct statvfs status {};
  if (statvfs(folder.c_str(), &status) != 0) {
    return {Status::kWarn, "how full " + folder.string() + " is is unknown",
            "set MISHAP_RECORDS to a folder on a local disk"};
  }
  const auto free_bytes =
      static_cast<std::int64_t>(status.f_bavail * status.f_frsize);
  const std::string text =
      collector::bytes(free_bytes) + " free at " + folder.string();
  const bool has_no_inode = status.f_files > 0 && status.f_favail < 100;
  if (free_bytes < kLittleRoom || has_no_inode) {
    return {Status::kWarn, has_no_inode ? text + ", and no more files" : text,
            "make room, or set MISHAP_RECORDS to another disk"};
  }
  return {Status::kOk, text, ""};
}

// Where the kernel tells of this process's memory control group.
std::string memory_events() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    const bool is_v2 = controllers.empty();
    if (!is_v2 && controllers.find("memory") == std::string_view::npos) {
      continue;
    }
    const std::string root = is_v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::string file = is_v2 ? "/memory.events" : "/memory.oom_control";
    // In a container the group's own folder is mounted as the root.
    for (const std::string& path : {root + group + file, root + file}) {
      if (!first_line_of(path).empty()) {
        return path;
      }
    }
  }
  return {};
}

Finding look_at_memory_group() {
  const std::string path = memory_events();
  if (path.empty()) {
    return {Status::kWarn,
            "an out-of-memory kill cannot be told from another one",
            "mount the control group (memory.events or memory.oom_control)"};
  }
  return {Status::kOk, "an out-of-memory kill is told by " + path, ""};
}

Finding look_at_ptrace() {
  const std::string scope = first_line_of("/proc/sys/kernel/yama/ptrace_scope");
  if (scope == "2" || scope == "3") {
    return {Status::kOk,
            "debuggers may not attach (ptrace_scope " + scope +
                "); stacks are taken from inside and do not need it",
            ""};
  }
  return {Status::kOk,
          scope.empty() || scope == "0"
              ? "debuggers may attach; stacks are taken from inside anyway"
              : "a parent may attach; stacks are taken from inside anyway",
          ""};
}

Finding look_at_cores() {
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  const std::string pattern = first_line_of("/proc/sys/kernel/core_pattern");
  if (pattern.starts_with('|')) {
    return {Status::kOk, "a crash hands its core to " + pattern.substr(1), ""};
  }
  if (limit.rlim_cur == 0) {
    return {Status::kOk,
            "a crash leaves no core file beside its record (ulimit -c 0)", ""};
  }
  return {Status::kOk, "a crash leaves a core file: " + pattern, ""};
}

Finding look_at_clock() {
  constexpr std::int64_t kStartOf2024 = 1'704'067'200'000'000'000;
  constexpr int kReads = 1'000;
  const collector::Clock& clock = collector::Clock::system();
  const std::int64_t begin = clock.steady_nano();
  std::int64_t last = begin;
  bool goes_back = false;
  for (int i = 0; i < kReads; ++i) {
    const std::int64_t now = clock.steady_nano();
    goes_back = goes_back || now < last;
    last = now;
  }
  const std::int64_t nanos = (last - begin) / kReads;
  if (goes_back) {
    return {Status::kFail, "the steady clock went backwards",
            "choose another clocksource"};
  }
  if (clock.unix_nano() < kStartOf2024) {
    return {Status::kWarn, "the time of day lies years back",
            "set the clock; records are ordered by the steady one"};
  }
  const std::string text = "steady, " + std::to_string(nanos) + " ns a reading";
  constexpr std::int64_t kSlow = 500;
  if (nanos > kSlow) {
    return {Status::kWarn, text,
            "choose the clocksource tsc: reading another one slows each hook"};
  }
  return {Status::kOk, text, ""};
}

}  // namespace

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<Probe> probes_of_machine() {
  return {{"room", look_at_room},
          {"memory kills", look_at_memory_group},
          {"ptrace", look_at_ptrace},
          {"core files", look_at_cores},
          {"clock", look_at_clock}};
}

}  // namespace mishap::cli
