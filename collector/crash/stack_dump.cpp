#include <fcntl.h>
#include <mishap/collector/crash/all_threads.h>
#include <mishap/collector/crash/own_signal.h>
#include <mishap/collector/crash/stack_dump.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

namespace mishap::collector {
namespace {

// In front of the threads; `answers` is written last.
struct DumpHeader {
  static constexpr std::uint64_t kMagic = 0x31306b7473686d;
  std::uint64_t magic = kMagic;
  std::int64_t process = 0;
  std::int32_t signal = 0;
  std::uint32_t answers = 0;
  std::uint32_t threads = 0;
  std::uint32_t unused = 0;
};

constexpr std::size_t kMaxDumped = 256;

constinit std::array<char, 4096> path_text{};
// The process that has offered; a forked child has not.
constinit std::atomic<pid_t> owner{0};
constinit std::atomic<bool> is_busy{false};
constinit DumpHeader header{};
constinit std::array<ThreadStack, kMaxDumped> stacks{};

template <class T>
bool write_at(int file, off_t offset, const T& value) noexcept {
  return pwrite(file, &value, sizeof value, offset) ==
         static_cast<ssize_t>(sizeof value);
}

template <class T>
bool read_at(int file, off_t offset, T& value) noexcept {
  return pread(file, &value, sizeof value, offset) ==
         static_cast<ssize_t>(sizeof value);
}

off_t offset_of(std::size_t thread) noexcept {
  return static_cast<off_t>(sizeof(DumpHeader) + thread * sizeof(DumpedThread));
}

template <std::size_t kSize>
void copy_text(std::string_view text, std::array<char, kSize>& out) noexcept {
  std::copy_n(text.data(), std::min(text.size(), kSize - 1), out.data());
}

template <std::size_t kSize>
std::string_view text_of(const std::array<char, kSize>& text) noexcept {
  return {text.data(), strnlen(text.data(), kSize)};
}

void fill(const ThreadStack& stack, DumpedThread& out) noexcept {
  out = {};
  out.id = stack.id;
  copy_text(stack.name(), out.name_text);
  copy_text(stack.role, out.role_text);
  copy_text(stack.state(), out.state_text);
  out.truncated = stack.trace.truncated ? 1 : 0;
  out.frame_count = stack.trace.size;
  std::copy_n(stack.trace.addresses.begin(), stack.trace.size,
              out.addresses.begin());
}

int open_dump(int flags) noexcept {
  return open(path_text.data(), flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

}  // namespace

std::string_view DumpedThread::name() const noexcept {
  return text_of(name_text);
}
std::string_view DumpedThread::role() const noexcept {
  return text_of(role_text);
}
std::string_view DumpedThread::state() const noexcept {
  return text_of(state_text);
}

bool offer_stacks(std::string_view path) noexcept {
  const int signal = prepare_own_signal();
  if (signal == 0 || path.empty() || path.size() >= path_text.size()) {
    return false;
  }
  std::copy(path.begin(), path.end(), path_text.begin());
  path_text[path.size()] = '\0';
  const int file = open_dump(O_RDWR | O_CREAT | O_TRUNC);
  if (file < 0) {
    return false;
  }
  header.process = getpid();
  header.signal = signal;
  const bool is_written = write_at(file, 0, header);
  close(file);
  owner.store(is_written ? getpid() : 0);
  return is_written;
}

bool detail::answer_stack_dump(const void* context) noexcept {
  if (owner.load() != getpid()) {
    return false;
  }
  if (is_busy.exchange(true)) {
    return true;
  }
  const int file = open_dump(O_RDWR);
  if (file >= 0) {
    const std::size_t count = capture_all_threads(
        stacks,
        {.first = static_cast<std::int32_t>(getpid()), .context = context});
    bool is_whole = true;
    for (std::size_t i = 0; i < count; ++i) {
      DumpedThread thread;
      fill(stacks[i], thread);
      is_whole = is_whole && write_at(file, offset_of(i), thread);
    }
    header.threads = static_cast<std::uint32_t>(is_whole ? count : 0);
    ++header.answers;
    write_at(file, 0, header);
    close(file);
  }
  is_busy.store(false);
  return true;
}

std::vector<DumpedThread> dump_stacks(const std::string& path, pid_t process,
                                      std::chrono::milliseconds wait) {
  constexpr auto kPause = std::chrono::milliseconds(2);
  std::vector<DumpedThread> threads;
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  DumpHeader before;
  DumpHeader now;
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(detail::kStacksWanted);
  if (file >= 0 && read_at(file, 0, before) &&
      before.magic == DumpHeader::kMagic && before.process == process &&
      syscall(SYS_rt_sigqueueinfo, process, before.signal, &info) == 0) {
    const auto until = std::chrono::steady_clock::now() + wait;
    bool has_come = false;
    while (!has_come && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(kPause);
      has_come = read_at(file, 0, now) && now.answers != before.answers;
    }
    const std::size_t count =
        has_come ? std::min<std::size_t>(now.threads, kMaxDumped) : 0;
    DumpedThread thread;
    for (std::size_t i = 0; i < count && read_at(file, offset_of(i), thread);
         ++i) {
      thread.frame_count =
          std::min<std::uint32_t>(thread.frame_count, thread.addresses.size());
      threads.push_back(thread);
    }
  }
  if (file >= 0) {
    close(file);
  }
  return threads;
}

}  // namespace mishap::collector
