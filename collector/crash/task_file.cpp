#include <fcntl.h>
#include <mishap/collector/crash/task_file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace mishap::collector::detail {
namespace {

constexpr std::string_view kTasks = "/proc/self/task";

// Text in a buffer of the caller; what does not fit is left out.
class Text {
 public:
  explicit Text(std::span<char> room) noexcept : room_(room) {}

  Text& operator<<(std::string_view part) noexcept {
    const std::size_t size = std::min(part.size(), room_.size() - size_);
    std::copy_n(part.data(), size, room_.data() + size_);
    size_ += size;
    return *this;
  }
  Text& operator<<(std::int32_t number) noexcept {
    const auto [end, error] = std::to_chars(
        room_.data() + size_, room_.data() + room_.size(), number);
    if (error == std::errc{}) {
      size_ = static_cast<std::size_t>(end - room_.data());
    }
    return *this;
  }
  std::string_view view() const noexcept { return {room_.data(), size_}; }

 private:
  std::span<char> room_;
  std::size_t size_ = 0;
};

std::string_view read_whole(const char* path, std::span<char> out) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return {};
  }
  std::size_t size = 0;
  while (size < out.size()) {
    const ssize_t got = ::read(file, out.data() + size, out.size() - size);
    if (got <= 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
  }
  close(file);
  while (size > 0 && out[size - 1] == '\n') {
    --size;
  }
  return {out.data(), size};
}

// The kernel's entry; the C library has no declaration for it.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  std::uint8_t type;
  // The name follows, ended by a NUL.
};
constexpr std::size_t kNameOffset = 19;

std::int32_t id_of(const char* name) noexcept {
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(name, name + strlen(name), id);
  return error == std::errc() && *end == '\0' ? id : 0;
}

}  // namespace

std::string_view read_task_file(std::int32_t id, std::string_view name,
                                std::span<char> out) noexcept {
  std::array<char, 64> path{};
  Text(std::span(path).first(path.size() - 1))
      << kTasks << "/" << id << "/" << name;
  return read_whole(path.data(), out);
}

std::size_t list_tasks(std::span<std::int32_t> out) noexcept {
  const int folder = open(kTasks.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return 0;
  }
  std::size_t count = 0;
  alignas(DirectoryEntry) std::array<char, 2048> entries;
  while (true) {
    // Not readdir(), which allocates.
    const long got =
        syscall(SYS_getdents64, folder, entries.data(), entries.size());
    if (got <= 0) {
      break;
    }
    for (long at = 0; at < got;) {
      const char* entry = entries.data() + at;
      DirectoryEntry head;
      std::memcpy(&head, entry, sizeof head);
      if (const std::int32_t id = id_of(entry + kNameOffset);
          id > 0 && count < out.size()) {
        out[count++] = id;
      }
      at += head.size;
    }
  }
  close(folder);
  return count;
}

std::string_view read_task_state(std::int32_t id,
                                 std::span<char> out) noexcept {
  std::array<char, 256> stat{};
  std::array<char, 64> place{};
  // The name in front of the state may hold anything but is the only thing in
  // brackets.
  const std::string_view all = read_task_file(id, "stat", stat);
  const std::size_t name_end = all.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= all.size()) {
    return {};
  }
  Text text(out);
  text << all.substr(name_end + 2, 1);
  const std::string_view channel = read_task_file(id, "wchan", place);
  if (!channel.empty() && channel != "0") {
    return (text << " " << channel).view();
  }
  std::string_view call = read_task_file(id, "syscall", place);
  call = call.substr(0, std::min(call.size(), call.find(' ')));
  if (!call.empty() && call != "running" && call != "-1") {
    text << " syscall " << call;
  }
  return text.view();
}

std::uint64_t read_blocked_signals(std::int32_t id) noexcept {
  constexpr std::string_view kKey = "\nSigBlk:\t";
  std::array<char, 4096> status;
  const std::string_view all = read_task_file(id, "status", status);
  const std::size_t at = all.find(kKey);
  std::uint64_t blocked = 0;
  if (at != std::string_view::npos) {
    const char* const digits = all.data() + at + kKey.size();
    std::from_chars(digits, all.data() + all.size(), blocked, 16);
  }
  return blocked;
}

}  // namespace mishap::collector::detail
