#include "ways_to_fail.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// glibc's way to fail an assertion, whatever NDEBUG is.
extern "C" [[noreturn]] void __assert_fail(const char*, const char*, unsigned,
                                           const char*) noexcept;

namespace ways {
namespace {

// Keeps a call from being the last thing in its function.
void stay() { asm volatile("" ::: "memory"); }

template <class T>
T* opaque(T* pointer) {
  asm volatile("" : "+r"(pointer));
  return pointer;
}

struct ThrowsWhenDestroyed {
  ~ThrowsWhenDestroyed() noexcept(false) {
    throw std::invalid_argument("second");
  }
};

void throw_past_noexcept() noexcept {
  fail_here(ThrowRuntimeError());
  stay();
}

struct Base;
void fail_here(Base& base);
struct Base {
  Base() { fail_here(*this); }
  virtual ~Base() = default;
  virtual void pure() = 0;
};
struct Derived : Base {
  void pure() override {}
};
[[gnu::noinline]] void fail_here(Base& base) {
  opaque(&base)->pure();
  stay();
}

[[gnu::noinline]] int fail_here(int depth) {
  std::array<char, 64> buffer{};
  volatile char* const local = opaque(buffer.data());
  local[static_cast<std::size_t>(depth) % 64] = 1;
  const int deeper = fail_here(depth + 1);
  return deeper + local[0];
}

}  // namespace

#define MISHAP_FAILS [[gnu::noinline, gnu::noclone]]

MISHAP_FAILS void fail_here(ThrowOutOfRange) {
  static_cast<void>(std::vector<int>(3).at(opaque(&errno) == nullptr ? 0 : 7));
}

MISHAP_FAILS void fail_here(ThrowRuntimeError) {
  throw std::runtime_error("as asked");
}

MISHAP_FAILS void fail_here(ThrowInt) { throw 42; }

MISHAP_FAILS void fail_here(SegvRead) {
  static_cast<void>(*opaque(static_cast<volatile int*>(nullptr)));
  stay();
}

MISHAP_FAILS void fail_here(SegvWrite) {
  static const std::array<char, 4> kConstant{};
  *opaque(const_cast<volatile char*>(kConstant.data())) = 1;
  stay();
}

MISHAP_FAILS void fail_here(SegvCallNull) {
  opaque(static_cast<void (*)()>(nullptr))();
  stay();
}

MISHAP_FAILS void fail_here(Abort) {
  ::abort();
  stay();
}

MISHAP_FAILS void fail_here(Assert) {
  __assert_fail("weights != nullptr", "model.cpp", 7, "step");
  stay();
}

MISHAP_FAILS void fail_here(Bus) {
  const int file = memfd_create("short", 0);
  auto* const page = static_cast<volatile char*>(
      mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0));
  static_cast<void>(*page);
  stay();
}

MISHAP_FAILS void fail_here(DivideByZero) {
  volatile int zero = 0;
  volatile int result = 7 / zero;
  static_cast<void>(result);
}

MISHAP_FAILS void fail_here(IllegalInstruction) {
  asm volatile("ud2");
  stay();
}

MISHAP_FAILS void fail_here(Trap) {
  asm volatile("int3");
  stay();
}

MISHAP_FAILS void fail_here(BadSystemCall) {
  std::array<sock_filter, 4> filter = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           filter.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  syscall(SYS_getppid);
  stay();
}

MISHAP_FAILS void fail_here(FileTooLarge) {
  constexpr rlim_t kMost = rlim_t{1} << 20U;
  const rlimit limit{kMost, kMost};
  setrlimit(RLIMIT_FSIZE, &limit);
  const int file = memfd_create("long", 0);
  static_cast<void>(!pwrite(file, "x", 1, kMost + 1));
  stay();
}

MISHAP_FAILS void fail_here(ProcessorTime) {
  const rlimit limit{1, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
  for (volatile unsigned long turn = 0;; turn = turn + 1) {
  }
}

MISHAP_FAILS void fail_here(MeetNoexcept) {
  throw_past_noexcept();
  stay();
}

MISHAP_FAILS void fail_here(ThrowInDestructor) {
  const ThrowsWhenDestroyed thrower;
  fail_here(ThrowOutOfRange());
}

MISHAP_FAILS void fail_here(ThrowNothing) {
  throw;  // NOLINT(hicpp-exception-baseclass)
}

MISHAP_FAILS void fail_here(DestroyJoinable) {
  std::thread thread([] { pause(); });
  stay();
}

MISHAP_FAILS void fail_here(CallPure) {
  const Derived derived;
  stay();
}

MISHAP_FAILS void fail_here(UseUpStack) {
  static_cast<void>(fail_here(0));
  stay();
}

MISHAP_FAILS void fail_here(UseUpStackAtOnce) {
  std::array<char, std::size_t{256} << 10U> buffer;
  volatile char* const local = opaque(buffer.data());
  local[opaque(&errno) == nullptr ? 1 : 0] = 1;
  fail_here(UseUpStackAtOnce());
  local[1] = 1;
}

MISHAP_FAILS void fail_here(FreeTwice) {
  void* const block = malloc(64);
  void* const again = opaque(block);
  free(block);
  free(again);
  stay();
}

MISHAP_FAILS void fail_here(OverrunHeap) {
  char* const first = opaque(static_cast<char*>(malloc(24)));
  char* const second = opaque(static_cast<char*>(malloc(24)));
  std::memset(first, 0x7f, 256);
  free(opaque(second));
  free(opaque(first));
  stay();
}

MISHAP_FAILS void fail_here(FaultInMalloc) {
  // Only a process with threads takes the lock.
  std::thread([] {}).join();
  auto* const block = opaque(static_cast<std::uintptr_t*>(malloc(3000)));
  void* const fence = opaque(malloc(64));
  free(block);
  opaque(block)[1] = 0x10;
  free(opaque(malloc(2000)));
  free(fence);
  stay();
}

MISHAP_FAILS void fail_here(SmashStack) {
  std::array<char, 16> local{};
  volatile char* const begin = opaque(local.data());
  for (int i = 0; i < 48; ++i) {
    begin[i] = 0x41;
  }
}

MISHAP_FAILS void fail_here(Kill) {
  raise(SIGKILL);
  stay();
}

MISHAP_FAILS void fail_here(TakeMemory) {
  constexpr std::size_t kBlock = std::size_t{1} << 20U;
  for (int i = 0; i < 256; ++i) {
    std::memset(opaque(static_cast<char*>(malloc(kBlock))), 1, kBlock);
  }
  // Nobody killed us: whoever simulates it does so now.
  fail_here(SleepForEver());
  stay();
}

MISHAP_FAILS void fail_here(SleepForEver) {
  std::this_thread::sleep_for(std::chrono::hours(1));
  stay();
}

MISHAP_FAILS void fail_here(WaitForSignal) {
  const pid_t self = getpid();
  if (fork() == 0) {
    kill(self, SIGSEGV);
    _exit(0);
  }
  pause();
  stay();
}

MISHAP_FAILS void fail_here(WaitForLock way) {
  way.lock->lock();
  stay();
}

}  // namespace ways
