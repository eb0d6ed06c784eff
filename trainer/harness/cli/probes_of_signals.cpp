#include <dlfcn.h>
#include <mishap/trainer/harness/cli/probe_parts.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace mishap::cli {
namespace {

using Status = Finding::Status;

constexpr std::array<std::pair<int, std::string_view>, 8> kFatal = {
    {{SIGSEGV, "SIGSEGV"},
     {SIGABRT, "SIGABRT"},
     {SIGBUS, "SIGBUS"},
     {SIGFPE, "SIGFPE"},
     {SIGILL, "SIGILL"},
     {SIGSYS, "SIGSYS"},
     {SIGXFSZ, "SIGXFSZ"},
     {SIGXCPU, "SIGXCPU"}}};

constexpr int kSeen = 42;
constexpr std::size_t kAlternateBytes = 64 * 1024;
alignas(16) std::array<std::byte, kAlternateBytes> alternate_stack;

void leave_seen(int) { _exit(kSeen); }

[[gnu::noinline]] int overflow(int depth) {
  std::array<volatile char, 4096> room;
  room[0] = static_cast<char>(depth);
  const int below = depth < 0 ? 0 : overflow(depth + 1);
  return below + room[0];
}

// In a child: whether a handler still runs when the stack is used up.
[[noreturn]] void overflow_the_stack() {
  const rlimit small{1024 * 1024, 1024 * 1024};
  setrlimit(RLIMIT_STACK, &small);
  stack_t stack{};
  stack.ss_sp = alternate_stack.data();
  stack.ss_size = alternate_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = leave_seen;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  _exit(overflow(0) == 0 ? 1 : 2);
}

Finding look_at_alternate_stack() {
  const pid_t child = fork();
  if (child == 0) {
    overflow_the_stack();
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    return {Status::kWarn, "no child process for a try of a stack overflow",
            "raise the limit of processes (ulimit -u)"};
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSeen) {
    return {Status::kOk, "a stack overflow can still be told", ""};
  }
  return {Status::kFail, "a stack overflow ends a process without a word",
          "sigaltstack does not work here; is a sandbox in the way?"};
}

std::string name_of_handler(const struct sigaction& action) {
  const void* address = (action.sa_flags & SA_SIGINFO) != 0
                            ? reinterpret_cast<const void*>(action.sa_sigaction)
                            : reinterpret_cast<const void*>(action.sa_handler);
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return "unknown code";
  }
  const std::string_view file = info.dli_fname;
  std::string name(file.substr(file.rfind('/') + 1));
  if (info.dli_sname != nullptr) {
    name += " (" + std::string(info.dli_sname) + ')';
  }
  return name;
}

Finding look_at_fatal_signals() {
  std::string ignored;
  std::string others;
  std::string last;
  const auto add = [](std::string& list, std::string_view item) {
    list += list.empty() ? "" : ", ";
    list += item;
  };
  for (const auto& [signal, name] : kFatal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    const bool is_plain = (action.sa_flags & SA_SIGINFO) == 0;
    if (is_plain && action.sa_handler == SIG_IGN) {
      add(ignored, name);
    } else if (!is_plain || action.sa_handler != SIG_DFL) {
      const std::string owner = name_of_handler(action);
      add(others, owner == last ? std::string(name)
                                : std::string(name) + " by " + owner);
      last = owner;
    }
  }
  if (!ignored.empty()) {
    return {Status::kWarn, ignored + " is ignored since before this process",
            "start programs with env --default-signal"};
  }
  if (!others.empty()) {
    return {Status::kOk, "handled already, and chained to: " + others, ""};
  }
  return {Status::kOk, "no other handler of fatal signals", ""};
}

Finding look_at_watchdog_signal() {
  sigset_t blocked;
  sigemptyset(&blocked);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  int free_signals = 0;
  // The highest ones are what others take first.
  for (int signal = SIGRTMIN + 1; signal <= SIGRTMAX - 2; ++signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    const bool is_default =
        (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
    free_signals += is_default && sigismember(&blocked, signal) == 0 ? 1 : 0;
  }
  if (free_signals == 0) {
    return {Status::kWarn,
            "no free real-time signal, so a hang is told without stacks",
            "unblock one, or free one, between SIGRTMIN + 1 and SIGRTMAX - 2"};
  }
  return {Status::kOk,
          "a hanging thread can be asked for its stack (" +
              std::to_string(free_signals) + " real-time signals are free)",
          ""};
}

}  // namespace

std::vector<Probe> probes_of_signals() {
  return {{"alternate stack", look_at_alternate_stack},
          {"fatal signals", look_at_fatal_signals},
          {"watchdog signal", look_at_watchdog_signal}};
}

}  // namespace mishap::cli
