#include <dirent.h>
#include <mishap/trainer/harness/contract/resources.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <thread>

namespace mishap {
namespace {

constexpr std::chrono::milliseconds kPatience{50};
constexpr std::chrono::microseconds kLongestPause{1'000};

template <typename Number>
std::vector<Number> numbers_in(const char* folder) {
  std::vector<Number> numbers;
  DIR* listing = opendir(folder);
  if (listing == nullptr) {
    return numbers;
  }
  const int own = dirfd(listing);
  while (const dirent* entry = readdir(listing)) {
    Number number = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const auto [stop, error] = std::from_chars(entry->d_name, end, number);
    if (error == std::errc() && stop == end) {
      numbers.push_back(number);
    }
  }
  if (std::string_view(folder) == "/proc/self/fd") {
    std::erase(numbers, static_cast<Number>(own));
  }
  closedir(listing);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<pid_t> threads_now() {
  return numbers_in<pid_t>("/proc/self/task");
}

template <typename T>
std::vector<T> only_in_first(const std::vector<T>& first,
                             const std::vector<T>& second) {
  std::vector<T> rest;
  std::set_difference(first.begin(), first.end(), second.begin(), second.end(),
                      std::back_inserter(rest));
  return rest;
}

std::string target_of(int descriptor) {
  std::error_code error;
  return std::filesystem::read_symlink(
             "/proc/self/fd/" + std::to_string(descriptor), error)
      .string();
}

// What a run and its sweep write on purpose.
bool is_output(std::string_view name) {
  return name == "records.jsonl" || name == "runs.jsonl" ||
         name == "cases.jsonl" || name == "summary.json";
}

}  // namespace

Resources Resources::sample(const std::string& folder) {
  Resources now;
  now.threads = threads_now();
  now.descriptors = numbers_in<int>("/proc/self/fd");
  siginfo_t info{};
  now.has_children =
      waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ||
      errno != ECHILD;
  if (!folder.empty()) {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder, error)) {
      std::string name = entry.path().filename().string();
      if (!is_output(name)) {
        now.files.push_back(std::move(name));
      }
    }
    std::sort(now.files.begin(), now.files.end());
  }
  return now;
}

std::string Resources::beyond(const Resources& clean) const {
  std::vector<pid_t> extra = only_in_first(threads, clean.threads);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  // A thread that was joined is listed for some microseconds more.
  std::chrono::microseconds pause{20};
  while (!extra.empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
    extra = only_in_first(threads_now(), clean.threads);
  }
  if (!extra.empty()) {
    return "thread " + std::to_string(extra.front()) + " is still running";
  }
  const auto open = only_in_first(descriptors, clean.descriptors);
  if (!open.empty()) {
    return "descriptor " + std::to_string(open.front()) + " (" +
           target_of(open.front()) + ") is still open";
  }
  if (has_children && !clean.has_children) {
    return "a child process is left";
  }
  const auto left = only_in_first(files, clean.files);
  if (!left.empty()) {
    return "the file " + left.front() + " is left";
  }
  return "";
}

}  // namespace mishap
