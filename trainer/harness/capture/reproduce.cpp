#include <mishap/trainer/harness/capture/reproduce.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <system_error>

namespace mishap {
namespace {

struct Command {
  std::mutex mutex;
  std::string text;
  FaultsGo faults_go = FaultsGo::kBefore;
};

// Never destroyed: a run may fail after main.
Command& command() {
  static Command* const instance = new Command;
  return *instance;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') ||
         std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

namespace {

std::string read_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  std::error_code error;
  std::string line = shell_quoted(
      std::filesystem::read_symlink("/proc/self/exe", error).string());
  std::size_t begin = std::min(all.size(), all.find('\0'));
  while (begin + 1 < all.size()) {
    const std::size_t end = std::min(all.size(), all.find('\0', begin + 1));
    line += ' ';
    line +=
        shell_quoted(std::string_view(all).substr(begin + 1, end - begin - 1));
    begin = end;
  }
  return line;
}

}  // namespace

const std::string& command_line() {
  // It does not change, and two files are read for it.
  static const std::string* const line = new std::string(read_command_line());
  return *line;
}

void set_reproduce_command(std::string text, FaultsGo faults_go) {
  Command& current = command();
  const std::lock_guard lock(current.mutex);
  current.text = std::move(text);
  current.faults_go = faults_go;
}

std::string reproduce_command(std::string_view faults) {
  Command& current = command();
  const std::lock_guard lock(current.mutex);
  if (current.faults_go == FaultsGo::kInside) {
    return current.text;
  }
  if (current.faults_go == FaultsGo::kBehind) {
    return faults.empty() ? current.text
                          : current.text + " --faults " + shell_quoted(faults);
  }
  std::string text = current.text;
  if (text.empty()) {
    std::error_code error;
    const std::string folder = std::filesystem::current_path(error).string();
    text = "cd " + shell_quoted(folder) + " && ";
    if (!faults.empty()) {
      text += "MISHAP_FAULTS=" + shell_quoted(faults) + ' ';
    }
    return text + command_line();
  }
  return faults.empty() ? text
                        : "MISHAP_FAULTS=" + shell_quoted(faults) + ' ' + text;
}

}  // namespace mishap
