// A program that knows nothing of Mishap and ends as it is told, for tests of
// `mishap watch`.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

volatile sig_atomic_t received = 0;

void count(int) { received = received + 1; }

void tell(int signal, siginfo_t* info, void*) {
  std::array<char, 96> line{};
  const int size = std::snprintf(line.data(), line.size(), "%d %d %d\n", signal,
                                 info->si_pid, info->si_value.sival_int);
  [[maybe_unused]] const ssize_t told =
      write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(size));
}

void say(const char* text) {
  std::puts(text);
  std::fflush(stdout);
}

[[gnu::noinline]] void check_shape(int rows) {
  if (rows != 32) {
    throw std::runtime_error("a batch of " + std::to_string(rows) + " rows");
  }
}

// What a shell cannot say: what this process found when it started.
int tell_signals() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Sig") || line.starts_with("Shd")) {
      std::cout << line << '\n';
    }
  }
  return 0;
}

int handle_all() {
  struct sigaction action {};
  action.sa_sigaction = tell;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM,
                           SIGWINCH, SIGRTMIN + 3}) {
    sigaction(signal, &action, nullptr);
  }
  say(("ready " + std::to_string(getpid())).c_str());
  while (true) pause();
}

// How often an interrupt from the terminal arrives.
int count_interrupts() {
  signal(SIGINT, count);
  say("ready");
  while (received == 0) pause();
  usleep(300'000);
  std::printf("interrupts %d\n", static_cast<int>(received));
  return 0;
}

int take_memory() {
  constexpr std::size_t kStep = std::size_t{1} << 20U;
  std::vector<char*> all;
  while (true) {
    char* const block = static_cast<char*>(std::malloc(kStep));
    if (block == nullptr) return 9;
    std::memset(block, 1, kStep);
    all.push_back(block);
  }
}

[[gnu::noinline]] void worker_keeps_lock(std::mutex& mutex) {
  mutex.lock();
  say("ready");
  while (true) pause();
}

[[gnu::noinline]] void main_wants_lock(std::mutex& mutex) {
  usleep(200'000);
  mutex.lock();
  mutex.unlock();
}

// One thread waits for a lock that another one never gives back.
int wait_for_each_other() {
  static std::mutex mutex;
  std::thread worker([] { worker_keeps_lock(mutex); });
  main_wants_lock(mutex);
  worker.join();
  return 0;
}

// Children of children that nobody waits for.
int leave_orphans() {
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      if (fork() == 0) {
        usleep(50'000);
        _exit(0);
      }
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  usleep(300'000);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char* const more = argc > 2 ? argv[2] : "0";
  if (what == "exit") {
    std::cerr << "about to exit\n";
    return std::atoi(more);
  }
  if (what == "signal") {
    std::cerr << "about to die\n";
    raise(std::atoi(more));
    return 0;
  }
  if (what == "fault") {
    // Read at run time: a compiler may refuse what it sees to fail.
    volatile std::uintptr_t nowhere = 8;
    *reinterpret_cast<volatile int*>(nowhere) = 1;
  }
  if (what == "throw") {
    check_shape(std::atoi(more));
  }
  if (what == "caught") {
    try {
      check_shape(31);
    } catch (const std::exception& error) {
      std::cerr << "gives up: " << error.what() << '\n';
    }
    return std::atoi(more);
  }
  if (what == "number") {
    throw 42;
  }
  if (what == "thread") {
    std::thread([&] { check_shape(33); }).join();
  }
  if (what == "write") {
    const long lines = std::atol(more);
    for (long i = 0; i < lines; ++i) {
      std::fprintf(stderr, "line %ld of what it has to say\n", i);
    }
    return 4;
  }
  if (what == "bytes") {
    const std::string bytes("\xff\xfe bad \x80 utf-8 \0 and a zero\n", 29);
    std::cerr << bytes;
    return 5;
  }
  if (what == "sleep") {
    say("ready");
    while (true) pause();
  }
  if (what == "chat") {
    for (int i = 0; i < std::atoi(more); ++i) {
      std::cerr << "still here\n";
      usleep(100'000);
    }
    return 0;
  }
  if (what == "signals") return tell_signals();
  if (what == "handle") return handle_all();
  if (what == "interrupts") return count_interrupts();
  if (what == "memory") return take_memory();
  if (what == "deadlock") return wait_for_each_other();
  if (what == "orphans") return leave_orphans();
  return 64;
}
