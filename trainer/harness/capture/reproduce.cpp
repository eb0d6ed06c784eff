#include <mishap/trainer/harness/capture/reproduce.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <system_error>

namespace mishap {
namespace {

// The command in front of its faults and behind them, with the word that goes
// before those. One that another has taken the place of is kept for a while: a
// signal handler may be reading it.
struct PreparedCommand {
  std::string front;
  std::string option;
  std::string back;
  bool takes_faults = true;
};
constinit std::atomic<const PreparedCommand*> prepared{nullptr};
constexpr std::size_t kKeptCommands = 16;

struct Command {
  std::mutex mutex;
  std::string text;
  FaultsGo faults_go = FaultsGo::kBefore;
  std::array<std::unique_ptr<const PreparedCommand>, kKeptCommands> kept;
  std::size_t next_kept = 0;
};

// Never destroyed: a run may fail after main.
Command& command() {
  static Command* const instance = new Command;
  return *instance;
}

PreparedCommand prepared_of(const Command& current) {
  switch (current.faults_go) {
    case FaultsGo::kInside:
      return {current.text, "", "", false};
    case FaultsGo::kBehind:
      return {current.text, " --faults ", "", true};
    case FaultsGo::kBefore:
      break;
  }
  if (!current.text.empty()) {
    return {"", "MISHAP_FAULTS=", current.text, true};
  }
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  return {"cd " + shell_quoted(folder) + " && ",
          "MISHAP_FAULTS=", command_line(), true};
}

// Text in room of the caller's; remembers when it did not fit.
class Room {
 public:
  explicit Room(std::span<char> room) noexcept : room_(room) {}

  void add(std::string_view text) noexcept {
    fits_ = fits_ && text.size() <= room_.size() - size_;
    if (fits_) {
      std::copy_n(text.data(), text.size(), room_.data() + size_);
      size_ += text.size();
    }
  }
  void add_quoted(std::string_view text) noexcept {
    add("'");
    for (const char c : text) {
      add(c == '\'' ? std::string_view("'\\''") : std::string_view(&c, 1));
    }
    add("'");
  }
  std::string_view view() const noexcept {
    return fits_ ? std::string_view(room_.data(), size_) : std::string_view();
  }

 private:
  std::span<char> room_;
  std::size_t size_ = 0;
  bool fits_ = true;
};

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
  prepared.store(nullptr);
}

void prepare_reproduce() {
  if (prepared.load() != nullptr) {
    return;
  }
  Command& current = command();
  const std::lock_guard lock(current.mutex);
  auto& kept = current.kept[current.next_kept++ % kKeptCommands];
  kept = std::make_unique<const PreparedCommand>(prepared_of(current));
  prepared.store(kept.get());
}

std::string_view prepared_reproduce(std::span<char> room,
                                    std::string_view faults) noexcept {
  const PreparedCommand* const parts = prepared.load();
  if (parts == nullptr) {
    return {};
  }
  Room text(room);
  text.add(parts->front);
  if (parts->takes_faults && !faults.empty()) {
    text.add(parts->option);
    text.add_quoted(faults);
    text.add(parts->back.empty() ? "" : " ");
  }
  text.add(parts->back);
  return text.view();
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
