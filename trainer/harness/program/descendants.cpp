#include <mishap/trainer/harness/program/descendants.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace mishap::program {
namespace {

constexpr auto kLongest = std::chrono::seconds(10);
constexpr auto kPause = std::chrono::milliseconds(2);

bool has_ended(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) {
    return true;
  }
  // The name in brackets may hold anything.
  const std::size_t end = line.rfind(')');
  return end == std::string::npos || end + 2 >= line.size() ||
         line[end + 2] == 'Z' || line[end + 2] == 'X';
}

}  // namespace

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  std::filesystem::directory_iterator task(tasks, error);
  for (; !error && task != std::filesystem::directory_iterator();
       task.increment(error)) {
    std::ifstream file(task->path() / "children");
    for (pid_t child = 0; file >> child;) {
      if (!has_ended(child)) {
        children.push_back(child);
      }
    }
  }
  return children;
}

std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> all = children_of(process);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const pid_t child : children_of(all[i])) {
      if (std::ranges::find(all, child) == all.end()) {
        all.push_back(child);
      }
    }
  }
  return all;
}

void kill_descendants(pid_t process, const std::vector<pid_t>& spared) {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (std::chrono::steady_clock::now() < end) {
    bool is_done = true;
    for (const pid_t child : children_of(process)) {
      if (std::ranges::find(spared, child) != spared.end()) {
        continue;
      }
      is_done = false;
      // Inner ones first would leave time for new ones: the parent goes first,
      // and what it leaves comes to us.
      kill(child, SIGKILL);
      for (const pid_t inner : descendants_of(child)) {
        kill(inner, SIGKILL);
      }
    }
    while (process == getpid() && waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (is_done) {
      return;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace mishap::program
