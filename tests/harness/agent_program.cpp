// What a test of the preload library's agent runs under it: an ordinary program
// that knows nothing of it. The first argument says which.
#include "agent_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace mishap::testing {

void say(const char* call, long result, long good) {
  std::string line = std::string(call) + ' ' + std::to_string(result);
  if (result != good) {
    line += std::string(" ") + std::strerror(errno);
  }
  line += '\n';
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) {
    std::_Exit(99);
  }
}

}  // namespace mishap::testing

namespace {

using mishap::testing::say;

// One of each call, on one file.
int calls() {
  const int file = ::open("plain", O_RDWR | O_CREAT | O_TRUNC, 0600);
  say("open", file < 0 ? -1 : 0, 0);
  say("write", ::write(file, "abcdef", 6), 6);
  iovec parts[2] = {{const_cast<char*>("gh"), 2}, {const_cast<char*>("ij"), 2}};
  say("writev", ::writev(file, parts, 2), 4);
  say("pwrite", ::pwrite(file, "AB", 2, 0), 2);
  say("fsync", ::fsync(file), 0);
  char room[16] = {};
  say("pread", ::pread(file, room, 4, 0), 4);
  say("lseek", ::lseek(file, 0, SEEK_SET), 0);
  say("read", ::read(file, room, 4), 4);
  say("close", ::close(file), 0);
  say("twice", ::close(file), -1);
  say("rename", std::rename("plain", "renamed"), 0);
  say("mkdir", ::mkdir("folder", 0700), 0);
  std::FILE* const stream = std::fopen("stream", "w+");
  say("fopen", stream != nullptr, 1);
  if (stream != nullptr) {
    say("fwrite", static_cast<long>(std::fwrite("12345678", 2, 4, stream)), 4);
    say("ferror", std::ferror(stream) != 0, 0);
    say("fprintf", std::fprintf(stream, "%d", 90), 2);
    say("fflush", std::fflush(stream), 0);
    std::clearerr(stream);
    std::rewind(stream);
    say("fread", static_cast<long>(std::fread(room, 2, 3, stream)), 3);
    say("ferror", std::ferror(stream) != 0, 0);
    say("fclose", std::fclose(stream), 0);
  }
  return 0;
}

// Writes a report in pieces, some of it before and some after each hit.
int report() {
  std::FILE* const stream = std::fopen("report", "w");
  const int file = ::open("raw", O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < 20; ++i) {
    const auto row = std::make_unique<std::string>(
        "row " + std::to_string(i) + " of a report that is long enough\n");
    if (std::fwrite(row->data(), 1, row->size(), stream) != row->size() ||
        ::write(file, row->data(), row->size()) !=
            static_cast<ssize_t>(row->size())) {
      return 3;
    }
    std::printf("printed %d\n", i);
  }
  ::close(file);
  return std::fclose(stream) == 0 ? 0 : 4;
}

[[gnu::noinline]] void save_to(const char* path, bool throws) {
  std::ofstream out;
  if (throws) {
    out.exceptions(std::ios::badbit | std::ios::failbit);
  }
  out.open(path);
  out << "content" << std::flush;
}

struct Twin {
  std::vector<int> values = std::vector<int>(100);
};

[[gnu::noinline]] void swallows() {
  try {
    auto* const twin = new Twin;
    delete twin;
  } catch (const std::bad_alloc&) {
    std::fputs("swallowed\n", stderr);
  }
}

[[gnu::noinline]] void cleans_up_and_passes_on() {
  try {
    auto* const twin = new Twin;
    delete twin;
  } catch (...) {
    throw;
  }
}

[[gnu::noinline]] void keeps_what_was_passed_on() {
  try {
    cleans_up_and_passes_on();
  } catch (const std::exception&) {
    std::fputs("kept\n", stderr);
  }
}

[[gnu::noinline]] void translates() {
  try {
    auto* const twin = new Twin;
    delete twin;
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("translated");
  }
}

[[gnu::noinline]] void keeps_what_was_translated() {
  try {
    translates();
  } catch (const std::runtime_error&) {
    std::fputs("kept\n", stderr);
  }
}

// Another error, which has nothing to do with it.
[[gnu::noinline]] void fails_by_itself() {
  try {
    throw std::logic_error("of its own");
  } catch (const std::logic_error&) {
  }
}

[[gnu::noinline]] void keeps_what_a_pointer_held() {
  std::exception_ptr kept;
  try {
    auto* const twin = new Twin;
    delete twin;
  } catch (...) {
    kept = std::current_exception();
  }
  if (kept) {
    try {
      std::rethrow_exception(kept);
    } catch (const std::exception&) {
      std::fputs("kept\n", stderr);
    }
  }
}

int catches(std::string_view how) {
  if (how == "swallow") {
    swallows();
  } else if (how == "rethrow") {
    keeps_what_was_passed_on();
  } else if (how == "translate") {
    keeps_what_was_translated();
  } else if (how == "pointer") {
    keeps_what_a_pointer_held();
  } else if (how == "none") {
    const auto twin = std::make_unique<Twin>();
  }
  fails_by_itself();
  return 0;
}

int allocations() {
  struct alignas(64) Wide {
    char bytes[64];
  };
  int refused = 0;
  const auto count = [&](auto* made) {
    // What is not looked at need not be made.
    asm volatile("" : "+r"(made) : : "memory");
    refused += made == nullptr ? 1 : 0;
  };
  const auto attempt = [&](auto make) {
    try {
      count(make());
    } catch (const std::bad_alloc&) {
      refused += 100;
    }
  };
  attempt([] { return new int; });
  attempt([] { return new int[3]; });
  attempt([] { return new Wide; });
  attempt([] { return new Wide[3]; });
  attempt([] { return new (std::nothrow) int; });
  attempt([] { return new (std::nothrow) int[3]; });
  attempt([] { return new (std::nothrow) Wide; });
  attempt([] { return new (std::nothrow) Wide[3]; });
  return refused;
}

int ends_with_handlers() {
  std::atexit([] { std::fputs("handler of the user\n", stderr); });
  const auto twin = std::make_unique<Twin>();
  return 7;
}

int threaded() {
  std::thread other([] { const auto twin = std::make_unique<Twin>(); });
  other.join();
  std::atomic<bool> ends{false};
  std::thread stays([&] {
    while (!ends) {
      std::this_thread::yield();
    }
  });
  int result = 0;
  try {
    const auto twin = std::make_unique<Twin>();
  } catch (const std::bad_alloc&) {
    result = 5;
  }
  ends = true;
  stays.join();
  return result;
}

int helpers() {
  const auto before = std::make_unique<Twin>();
  return std::system("echo text > of_shell; test \"$(cat of_shell)\" = text");
}

// A child of the program's own, by fork, does as it likes.
int forks() {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 10; ++i) {
      const auto twin = std::make_unique<Twin>();
    }
    save_to("of_child", true);
    std::_Exit(0);
  }
  const auto twin = std::make_unique<Twin>();
  return 0;
}

// With a timer that runs, of one sort or the other.
int timed(std::string_view how) {
  if (how == "interval") {
    const itimerval later{{0, 0}, {1000, 0}};
    setitimer(ITIMER_REAL, &later, nullptr);
  } else {
    timer_t timer = nullptr;
    sigevent nothing{};
    nothing.sigev_notify = SIGEV_NONE;
    timer_create(CLOCK_MONOTONIC, &nothing, &timer);
  }
  const auto twin = std::make_unique<Twin>();
  return 0;
}

int loop(int count) {
  for (int i = 0; i < count; ++i) {
    const auto twin = std::make_unique<int>(i);
    asm volatile("" ::"r"(twin.get()) : "memory");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const std::string_view how = argc > 2 ? argv[2] : "";
  if (what == "calls") {
    return calls();
  }
  if (what == "streams") {
    return mishap::testing::streams();
  }
  if (what == "report") {
    return report();
  }
  if (what == "save") {
    try {
      save_to("saved", how == "throws");
    } catch (const std::ios::failure&) {
      return 3;
    }
    return 0;
  }
  if (what == "catches") {
    return catches(how);
  }
  if (what == "allocations") {
    return allocations();
  }
  if (what == "handlers") {
    return ends_with_handlers();
  }
  if (what == "threaded") {
    return threaded();
  }
  if (what == "timed") {
    return timed(how);
  }
  if (what == "helpers") {
    return helpers();
  }
  if (what == "forks") {
    return forks();
  }
  if (what == "loop") {
    return loop(std::atoi(argv[2]));
  }
  if (what == "exec") {
    ::execl(argv[0], argv[0], "loop", "5", nullptr);
  }
  std::fprintf(stderr, "agent_program: no such part: %s\n", argv[1]);
  return 2;
}
