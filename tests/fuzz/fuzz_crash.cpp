// Programs that end in any way: by which signal, on which thread, with what in
// the registers, the stack and the heap. Each runs in a child under a guard.
// However it ends: within a second, by the signal that it asked for where the
// kernel gave one, and what it leaves, after the next run of the folder has
// looked, is lines of JSON that know of the run.
#include <fcntl.h>
#include <mishap/collector/recover_pending.h>
#include <mishap/collector/sink.h>
#include <mishap/guard.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bytes.h"
#include "require.h"

namespace mishap::fuzz {
namespace {

using std::chrono::milliseconds;

// A second is the promise; the machine may have much else to do.
constexpr milliseconds kBound{10'000};

constexpr std::array kSignals = {SIGSEGV, SIGABRT, SIGBUS,  SIGFPE,
                                 SIGILL,  SIGSYS,  SIGXFSZ, SIGXCPU};

[[gnu::noinline]] int recurse(volatile int* depth) {
  volatile char frame[512];
  *depth = *depth + 1;
  frame[0] = static_cast<char>(*depth);
  return recurse(depth) + frame[0];
}

// Writes over the frames above its own, as a buffer that overflows does.
[[gnu::noinline, gnu::no_stack_protector]] void smash_stack(Bytes& bytes) {
  std::uintptr_t word = 0;
  volatile std::uintptr_t* const here = &word;
  const std::size_t words = bytes.up_to(64);
  for (std::size_t i = 1; i <= words; ++i) {
    here[i] = bytes.number<std::uintptr_t>();
  }
}

void damage_heap(Bytes& bytes) {
  std::vector<char*> blocks;
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(static_cast<char*>(std::malloc(24 + bytes.up_to(2'000))));
  }
  for (std::size_t i = bytes.up_to(16); i > 0; --i) {
    volatile char* const block = blocks[bytes.up_to(7)];
    block[static_cast<std::ptrdiff_t>(bytes.up_to(96)) - 32] =
        bytes.number<char>();
  }
  for (char* const block : blocks) {
    std::free(block);
    if (bytes.flag()) std::free(std::malloc(bytes.up_to(3'000)));
  }
}

#if defined(__x86_64__)
// Faults with these in the registers that a stack is walked by.
[[noreturn]] void fault_with(std::uintptr_t rsp, std::uintptr_t rbp,
                             std::uintptr_t rip) {
  asm volatile(
      "movq %1, %%rbp\n\t"
      "movq %0, %%rsp\n\t"
      "jmp *%2"
      :
      : "r"(rsp), "r"(rbp), "r"(rip)
      : "memory");
  __builtin_unreachable();
}
#endif

struct ThrowsInDestructor {
  ~ThrowsInDestructor() noexcept(false) {
    throw std::runtime_error("thrown while unwinding");
  }
};

[[gnu::noinline]] void throw_text(std::string_view text) {
  throw std::runtime_error(std::string(text));
}

void terminate_somehow(Bytes& bytes) {
  switch (bytes.up_to(3)) {
    case 0:
      std::terminate();
    case 1:
      [&]() noexcept { throw_text(bytes.text()); }();
      break;
    case 2: {
      const ThrowsInDestructor object;
      throw std::logic_error("first");
    }
    default:
      std::thread([] { throw 7; }).join();
  }
}

void end_somehow(Bytes& bytes) {
  switch (bytes.up_to(8)) {
    case 0:
      raise(kSignals[bytes.up_to(kSignals.size() - 1)]);
      break;
    case 1:
      kill(getpid(), kSignals[bytes.up_to(kSignals.size() - 1)]);
      pause();
      break;
    case 2: {
      auto* const place =
          reinterpret_cast<volatile int*>(bytes.number<std::uintptr_t>());
      *place = 1;
      break;
    }
    case 3: {
      volatile int depth = 0;
      recurse(&depth);
      break;
    }
    case 4:
      smash_stack(bytes);
      break;
    case 5:
      damage_heap(bytes);
      break;
    case 6:
      terminate_somehow(bytes);
      break;
#if defined(__x86_64__)
    case 7: {
      const auto near = reinterpret_cast<std::uintptr_t>(&bytes);
      const std::uintptr_t rsp = bytes.flag()
                                     ? bytes.number<std::uintptr_t>()
                                     : near + bytes.number<std::int16_t>();
      const auto rbp = bytes.flag() ? bytes.number<std::uintptr_t>()
                                    : near + bytes.number<std::int16_t>();
      const auto rip = bytes.flag()
                           ? bytes.number<std::uintptr_t>()
                           : reinterpret_cast<std::uintptr_t>(&recurse) +
                                 bytes.number<std::uint16_t>();
      fault_with(rsp, rbp, rip);
    }
#endif
    default: {
      // A file that shrinks behind its mapping: SIGBUS.
      const int file = memfd_create("fuzz", 0);
      if (ftruncate(file, 4'096) != 0) _exit(0);
      auto* const page = static_cast<volatile char*>(
          mmap(nullptr, 4'096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
      if (ftruncate(file, 0) != 0) _exit(0);
      page[bytes.up_to(4'095)] = 1;
    }
  }
}

struct Work {
  Bytes* bytes;
};

void* end_on_thread(void* work) {
  end_somehow(*static_cast<Work*>(work)->bytes);
  return nullptr;
}

void end_on_some_thread(Bytes& bytes) {
  if (bytes.flag()) return end_somehow(bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (bytes.flag()) pthread_attr_setstacksize(&attributes, 128 * 1024);
  Work work{&bytes};
  pthread_t thread{};
  if (pthread_create(&thread, &attributes, end_on_thread, &work) == 0) {
    pthread_join(thread, nullptr);
  }
}

[[noreturn]] void run_program(Bytes bytes, const std::string& folder) {
  for (const int signal : kSignals) ::signal(signal, SIG_DFL);
  for (const int signal : {SIGALRM, SIGTRAP, SIGINT, SIGTERM, SIGSEGV}) {
    ::signal(signal, SIG_DFL);
  }
  const itimerval none{};
  setitimer(ITIMER_REAL, &none, nullptr);
  std::set_terminate(nullptr);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // What jumps anywhere may loop for ever; that is not the handler's doing.
  const rlimit cpu{20, 20};
  setrlimit(RLIMIT_CPU, &cpu);
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  HarnessOptions options;
  options.capture.records = folder;
  try {
    guard(
        "fuzz",
        [&](Run& run) {
          run.step(1);
          end_on_some_thread(bytes);
        },
        options);
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

struct End {
  int status = 0;
  milliseconds took{0};
  bool looped = false;
};

// The child is left alone while it works, and not for longer than the bound
// once the machine has given it the time for it.
End wait_for(pid_t child) {
  const auto begin = std::chrono::steady_clock::now();
  End end;
  for (;;) {
    const pid_t ended = waitpid(child, &end.status, WNOHANG);
    end.took = std::chrono::duration_cast<milliseconds>(
        std::chrono::steady_clock::now() - begin);
    if (ended == child) return end;
    if (end.took > kBound) {
      kill(child, SIGKILL);
      waitpid(child, &end.status, 0);
      end.looped = true;
      return end;
    }
    usleep(200);
  }
}

const std::string& folder() {
  static const std::string* const kept = [] {
    auto* name = new std::string("/dev/shm/mishap-fuzz-XXXXXX");
    require(mkdtemp(name->data()) != nullptr, "no folder could be made");
    return name;
  }();
  return *kept;
}

int check_what_is_left() {
  collector::RecordSink sink({.folder = folder()});
  const collector::Recovered recovered = collector::recover_pending(sink);
  require(recovered.damaged == 0, "a slot is damaged");
  int records = 0;
  std::ifstream file(sink.records_path(), std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    const auto read = nlohmann::json::parse(line, nullptr, false);
    require(read.is_object() && read.contains("record_id"),
            "a line is no record: " + line.substr(0, 200));
    require(read["entry_point"] == "fuzz" || read["entry_point"].is_null(),
            "the record is of another run");
    ++records;
  }
  return records;
}

}  // namespace
}  // namespace mishap::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace mishap::fuzz;  // NOLINT(google-build-using-namespace)
  std::filesystem::remove_all(folder());
  std::filesystem::create_directory(folder());
  const pid_t child = fork();
  if (child == 0) run_program(Bytes(data, size), folder());
  const End end = wait_for(child);
  const bool went_well = WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0;
  const int records = check_what_is_left();
  if (end.looped) {
    // A jump into any code may loop by itself; the run is still known.
    require(records >= 1, "a program that hangs left no record");
    return 0;
  }
  require(went_well || records >= 1,
          "status " + std::to_string(end.status) + " and no record");
  require(end.took < kBound,
          "it took " + std::to_string(end.took.count()) + " ms to end");
  return 0;
}
