#include <mishap/collector/crash/kernel_threads.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace mishap::collector {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The letter stands behind the name, which may hold anything.
std::string state_letter(const std::string& stat) {
  const std::size_t end = stat.rfind(')');
  return end == std::string::npos || end + 2 >= stat.size()
             ? std::string()
             : stat.substr(end + 2, 1);
}

}  // namespace

std::vector<KernelThread> kernel_threads(pid_t process) {
  std::vector<KernelThread> threads;
  std::error_code error;
  const std::filesystem::path tasks =
      "/proc/" + std::to_string(process) + "/task";
  for (std::filesystem::directory_iterator entry(tasks, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string number = entry->path().filename().string();
    KernelThread thread;
    std::from_chars(number.data(), number.data() + number.size(), thread.id);
    thread.name = first_line(entry->path() / "comm");
    thread.state = state_letter(first_line(entry->path() / "stat"));
    if (thread.state.empty()) continue;
    // "0" where the thread runs, or the kernel does not tell.
    const std::string channel = first_line(entry->path() / "wchan");
    if (!channel.empty() && channel != "0") thread.state += ' ' + channel;
    threads.push_back(std::move(thread));
  }
  std::ranges::sort(threads, {}, &KernelThread::id);
  return threads;
}

}  // namespace mishap::collector
