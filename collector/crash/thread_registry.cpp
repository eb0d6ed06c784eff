#include <fcntl.h>
#include <mishap/collector/crash/alternate_stack.h>
#include <mishap/collector/crash/thread_registry.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

// Where the main thread's stack ends; of the dynamic loader.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" void* __libc_stack_end;

namespace mishap::collector {
namespace {

// The id is written last and taken away first: who reads it before and after
// the rest has a whole entry.
struct Entry {
  std::atomic<bool> taken{false};
  std::atomic<std::int32_t> id{0};
  std::atomic<const char*> role{nullptr};
  std::atomic<std::uintptr_t> stack_low{0};
  std::atomic<std::uintptr_t> stack_high{0};
};

constinit std::array<Entry, kMaxThreads> entries{};
// No entry at or beyond it was ever taken.
constinit std::atomic<std::size_t> used{0};

struct ThisThread {
  Entry* entry = nullptr;
  int depth = 0;
  detail::AlternateStack stack;
};
[[gnu::tls_model(
    "initial-exec")]] constinit thread_local ThisThread this_thread{};

struct Bounds {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
};

Bounds main_stack() noexcept {
  Bounds bounds;
  bounds.high = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < bounds.high) {
    bounds.low = bounds.high - limit.rlim_cur;
  }
  return bounds;
}

Bounds stack_of_this_thread() noexcept {
  if (gettid() == getpid()) {
    return main_stack();
  }
  Bounds bounds;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
      bounds.low = reinterpret_cast<std::uintptr_t>(low);
      bounds.high = bounds.low + size;
    }
    pthread_attr_destroy(&attributes);
  }
  return bounds;
}

Entry* take_entry() noexcept {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    bool free = false;
    if (!entries[i].taken.compare_exchange_strong(free, true)) {
      continue;
    }
    std::size_t seen = used.load();
    while (seen <= i && !used.compare_exchange_weak(seen, i + 1)) {
    }
    return &entries[i];
  }
  return nullptr;
}

void give_entry_back(Entry& entry) noexcept {
  entry.id.store(0);
  entry.taken.store(false);
}

// Of a forked child's threads only the one that forked lives.
void forget_other_threads() noexcept {
  for (std::size_t i = 0; i < used.load(); ++i) {
    if (&entries[i] == this_thread.entry) {
      entries[i].id.store(gettid());
    } else {
      give_entry_back(entries[i]);
    }
  }
}

void enter(const char* role) noexcept {
  if (this_thread.depth++ > 0) {
    return;
  }
  static const bool forgets_at_fork =
      pthread_atfork(nullptr, nullptr, forget_other_threads) == 0;
  static_cast<void>(forgets_at_fork);
  this_thread.stack.install();
  Entry* const entry = take_entry();
  if (entry == nullptr) {
    return;
  }
  const Bounds bounds = stack_of_this_thread();
  entry->role.store(role);
  entry->stack_low.store(bounds.low);
  entry->stack_high.store(bounds.high);
  this_thread.entry = entry;
  entry->id.store(gettid());
}

void leave() noexcept {
  if (--this_thread.depth > 0) {
    return;
  }
  if (this_thread.entry != nullptr) {
    give_entry_back(*this_thread.entry);
    this_thread.entry = nullptr;
  }
  this_thread.stack.remove();
}

struct UntilExit {
  ~UntilExit() {
    if (active) {
      leave();
    }
  }
  bool active = false;
};

bool read(const Entry& entry, RegisteredThread& out) noexcept {
  out.id = entry.id.load();
  if (out.id == 0) {
    return false;
  }
  const char* const role = entry.role.load();
  out.role = role == nullptr ? std::string_view() : std::string_view(role);
  out.stack_low = entry.stack_low.load();
  out.stack_high = entry.stack_high.load();
  return entry.id.load() == out.id;
}

}  // namespace

ThreadScope::ThreadScope(const char* role) noexcept { enter(role); }

ThreadScope::~ThreadScope() { leave(); }

void register_thread_until_exit(const char* role) noexcept {
  if (this_thread.depth > 0) {
    return;
  }
  static thread_local UntilExit until_exit;
  if (!until_exit.active) {
    until_exit.active = true;
    enter(role);
  }
}

std::size_t registered_threads(std::span<RegisteredThread> out) noexcept {
  std::size_t count = 0;
  const std::size_t end = used.load();
  for (std::size_t i = 0; i < end && count < out.size(); ++i) {
    if (read(entries[i], out[count])) {
      ++count;
    }
  }
  return count;
}

std::optional<RegisteredThread> find_registered_thread(
    std::int32_t id) noexcept {
  RegisteredThread thread;
  const std::size_t end = used.load();
  for (std::size_t i = 0; i < end; ++i) {
    if (entries[i].id.load() == id && read(entries[i], thread)) {
      return thread;
    }
  }
  return std::nullopt;
}

RegisteredThread this_thread_view() noexcept {
  RegisteredThread thread;
  const Entry* const entry = this_thread.entry;
  if (entry != nullptr && read(*entry, thread)) {
    return thread;
  }
  thread.id = gettid();
  if (thread.id == getpid()) {
    const Bounds bounds = main_stack();
    thread.role = "main";
    thread.stack_low = bounds.low;
    thread.stack_high = bounds.high;
  } else {
    thread.role = "worker";
  }
  return thread;
}

std::string_view ThreadName::view() const noexcept {
  return {text.data(), strnlen(text.data(), text.size())};
}

ThreadName thread_name(std::int32_t id) noexcept {
  ThreadName name;
  if (id == gettid()) {
    prctl(PR_GET_NAME, name.text.data());
    return name;
  }
  std::array<char, 40> path{"/proc/self/task/"};
  std::size_t size = std::strlen(path.data());
  std::array<char, 12> digits{};
  std::size_t count = 0;
  for (std::int32_t rest = id; rest > 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  while (count > 0) {
    path[size++] = digits[--count];
  }
  std::memcpy(path.data() + size, "/comm", sizeof "/comm");
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return name;
  }
  const ssize_t got = ::read(file, name.text.data(), name.text.size() - 1);
  close(file);
  for (ssize_t i = 0; i < got; ++i) {
    if (name.text[static_cast<std::size_t>(i)] == '\n') {
      name.text[static_cast<std::size_t>(i)] = '\0';
    }
  }
  return name;
}

}  // namespace mishap::collector
