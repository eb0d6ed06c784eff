#include <gtest/gtest.h>
#include <mishap/collector/crash/crash.h>
#include <mishap/collector/crash/fatal_signals.h>
#include <mishap/collector/crash/thread_registry.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

namespace mishap::collector {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

// What a child process tells its test through a pipe.
int told_to = -1;

class Teller : public CrashTeller {
 public:
  void tell(const Crash& crash) noexcept override {
    FixedText<1024> line;
    line << crash.type << ": " << crash.message.view() << "\n";
    static_cast<void>(!write(told_to, line.view().data(), line.view().size()));
  }
};

struct Ended {
  // 128 + n when signal n ended it.
  int status = -1;
  std::string told;
  steady_clock::duration took{};
};

// Runs `body` in a child with crash handlers over what `prepare` does.
Ended in_child(const std::function<void()>& prepare,
               const std::function<void()>& body, CrashTeller& teller) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const auto begin = steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    told_to = ends[1];
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGXFSZ, SIGALRM}) {
      std::signal(signal, SIG_DFL);
    }
    prepare();
    set_crash_teller(&teller);
    const CrashScope crashes;
    const ThreadScope thread("main");
    body();
    _exit(0);
  }
  close(ends[1]);
  Ended ended;
  char part[256];
  for (ssize_t size = 0; (size = read(ends[0], part, sizeof part)) > 0;) {
    ended.told.append(part, static_cast<std::size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ended.status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.took = steady_clock::now() - begin;
  return ended;
}

Ended in_child(const std::function<void()>& prepare,
               const std::function<void()>& body) {
  Teller teller;
  return in_child(prepare, body, teller);
}

void nothing() {}

void fault() {
  volatile int* nowhere = nullptr;
  asm volatile("" : "+r"(nowhere));
  *nowhere = 1;
}

constexpr const char* kFault = "SIGSEGV: address not mapped at 0x0\n";

// G16, cpptrace#73
TEST(CrashHandlers, ProcessEndsByTheSignalThatCame) {
  const Ended ended = in_child(nothing, fault);
  EXPECT_EQ(ended.told, kFault);
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
}

TEST(CrashHandlers, HandlerOfBeforeIsCalledWithWhatTheKernelSaid) {
  const Ended ended = in_child(
      [] {
        struct sigaction action {};
        action.sa_flags = SA_SIGINFO;
        action.sa_sigaction = [](int, siginfo_t* info, void*) {
          _exit(info->si_addr == nullptr && info->si_code == SEGV_MAPERR ? 42
                                                                         : 43);
        };
        sigaction(SIGSEGV, &action, nullptr);
      },
      fault);
  EXPECT_EQ(ended.told, kFault);
  EXPECT_EQ(ended.status, 42);
}

// What abseil's and glog's handlers do.
TEST(CrashHandlers, HandlerOfBeforeMayRaiseTheSignalAgain) {
  const Ended ended = in_child(
      [] {
        std::signal(SIGSEGV, [](int signal) {
          std::signal(signal, SIG_DFL);
          raise(signal);
        });
      },
      fault);
  EXPECT_EQ(ended.told, kFault);
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
}

void* page = nullptr;

TEST(CrashHandlers, HandlerOfBeforeMayMendTheFault) {
  const Ended ended = in_child(
      [] {
        page =
            mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        std::signal(SIGSEGV,
                    [](int) { mprotect(page, 4096, PROT_READ | PROT_WRITE); });
      },
      [] { *static_cast<volatile int*>(page) = 1; });
  EXPECT_EQ(ended.status, 0);
}

sigjmp_buf way_out;

TEST(CrashHandlers, CrashAfterOneThatWasLeftByJumpIsToldToo) {
  const Ended ended = in_child(
      [] { std::signal(SIGSEGV, [](int) { siglongjmp(way_out, 1); }); },
      [] {
        if (sigsetjmp(way_out, 1) == 0) {
          fault();
        }
        std::signal(SIGFPE, SIG_DFL);
        abort();
      });
  EXPECT_EQ(ended.told, std::string(kFault) + "SIGABRT: abort() was called\n");
  EXPECT_EQ(ended.status, 128 + SIGABRT);
}

TEST(CrashHandlers, HandlerThatComesLaterHandsOnToOurs) {
  const Ended ended = in_child(nothing, [] {
    static struct sigaction ours {};
    struct sigaction theirs {};
    theirs.sa_flags = SA_SIGINFO;
    theirs.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      ours.sa_sigaction(signal, info, context);
    };
    sigaction(SIGSEGV, &theirs, &ours);
    fault();
  });
  EXPECT_EQ(ended.told, kFault);
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
}

TEST(CrashHandlers, TwoHandlersThatHandOnToEachOtherEnd) {
  const Ended ended = in_child(
      [] {
        // Put over ours, left there, and then under it.
        static struct sigaction ours {};
        const CrashScope earlier;
        struct sigaction theirs {};
        theirs.sa_flags = SA_SIGINFO | SA_NODEFER;
        theirs.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
          ours.sa_sigaction(signal, info, context);
        };
        sigaction(SIGSEGV, &theirs, &ours);
      },
      fault);
  EXPECT_EQ(ended.told, kFault);
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
}

TEST(CrashHandlers, IgnoredSignalStaysIgnored) {
  const Ended ended =
      in_child([] { std::signal(SIGXFSZ, SIG_IGN); }, [] { raise(SIGXFSZ); });
  EXPECT_EQ(ended.told, "");
  EXPECT_EQ(ended.status, 0);
}

TEST(CrashHandlers, FaultIsToldThoughItsSignalIsIgnored) {
  const Ended ended = in_child([] { std::signal(SIGSEGV, SIG_IGN); },
                               [] {
                                 raise(SIGSEGV);
                                 fault();
                               });
  EXPECT_EQ(ended.told, kFault);
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
}

TEST(CrashHandlers, LastScopeGivesBackWhatTheFirstOneFound) {
  struct sigaction before {};
  sigaction(SIGSEGV, nullptr, &before);
  {
    const CrashScope outer;
    const CrashScope inner;
    struct sigaction during {};
    sigaction(SIGSEGV, nullptr, &during);
    EXPECT_NE(reinterpret_cast<void*>(during.sa_sigaction),
              reinterpret_cast<void*>(before.sa_sigaction));
  }
  struct sigaction after {};
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_EQ(reinterpret_cast<void*>(after.sa_sigaction),
            reinterpret_cast<void*>(before.sa_sigaction));
}

TEST(CrashHandlers, HandlerThatCameLaterStaysAtTheEnd) {
  struct sigaction before {};
  sigaction(SIGFPE, nullptr, &before);
  const auto theirs = [](int) {};
  {
    const CrashScope scope;
    std::signal(SIGFPE, theirs);
  }
  struct sigaction after {};
  sigaction(SIGFPE, nullptr, &after);
  EXPECT_EQ(after.sa_handler, static_cast<void (*)(int)>(theirs));
  sigaction(SIGFPE, &before, nullptr);
}

class FaultyTeller : public CrashTeller {
 public:
  void tell(const Crash&) noexcept override { fault(); }
};

// sentry-native#1353
TEST(CrashHandlers, FaultInTheTellingEndsTheProcessByTheFirstSignal) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "its handlers of signals do not nest";
#endif
  FaultyTeller teller;
  const Ended ended = in_child(
      nothing, [] { abort(); }, teller);
  EXPECT_EQ(ended.status, 128 + SIGABRT);
}

class OnceFaultyTeller : public Teller {
 public:
  void tell(const Crash& crash) noexcept override {
    if (!crash.is_second_try) {
      fault();
    }
    Teller::tell(crash);
  }
};

TEST(CrashHandlers, TellerMayTryOnceMore) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "its handlers of signals do not nest";
#endif
  OnceFaultyTeller teller;
  const Ended ended = in_child(
      nothing, [] { abort(); }, teller);
  EXPECT_EQ(ended.told, "SIGABRT: abort() was called\n");
  EXPECT_EQ(ended.status, 128 + SIGABRT);
}

class StuckTeller : public CrashTeller {
 public:
  void tell(const Crash&) noexcept override {
    for (;;) {
      asm volatile("" ::: "memory");
    }
  }
};

// G15, sentry-native#906, backward-cpp#47
TEST(CrashHandlers, TellingThatIsStuckEndsByTheFirstSignalWithinSeconds) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "it holds the timer\'s signal back";
#endif
  StuckTeller teller;
  const Ended ended = in_child(nothing, fault, teller);
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
  EXPECT_LT(ended.took, seconds(10));
}

// sentry-native#1578
TEST(CrashHandlers, OfSeveralThreadsTheFirstIsToldAlone) {
  const Ended ended = in_child(nothing, [] {
    std::thread threads[] = {std::thread(fault), std::thread(fault),
                             std::thread(fault)};
    for (std::thread& thread : threads) {
      thread.join();
    }
  });
  EXPECT_EQ(ended.told, kFault);
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
}

// sentry-native#1893, #1894
TEST(CrashHandlers, ProcessOneEndsToo) {
  for (const bool raises : {false, true}) {
    const Ended ended = in_child(
        [] {
          if (unshare(CLONE_NEWPID) != 0) {
            _exit(77);
          }
          const pid_t first = fork();
          if (first != 0) {
            int status = 0;
            waitpid(first, &status, 0);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
          }
        },
        [raises] { raises ? abort() : fault(); });
    if (ended.status == 77) {
      GTEST_SKIP() << "may not make a process namespace here";
    }
    EXPECT_EQ(ended.status, 128 + (raises ? SIGABRT : SIGSEGV));
    EXPECT_NE(ended.told, "");
  }
}

// G10, sentry-native#860
TEST(CrashHandlers, UncaughtExceptionIsToldByTypeAndText) {
  const Ended ended = in_child(nothing, [] {
    std::thread([] { throw std::runtime_error("no such batch"); }).join();
  });
  EXPECT_EQ(ended.told, "std::runtime_error: no such batch\n");
  EXPECT_EQ(ended.status, 128 + SIGABRT);
}

// G6
TEST(CrashHandlers, TerminateHandlerOfBeforeIsCalled) {
  const Ended ended = in_child([] { std::set_terminate([] { _exit(9); }); },
                               [] { std::terminate(); });
  EXPECT_EQ(ended.told, "std::terminate: called without an active exception\n");
  EXPECT_EQ(ended.status, 9);
}

struct Recursive : std::exception {
  const char* what() const noexcept override { std::terminate(); }
};

// G6
TEST(CrashHandlers, TerminateInsideTerminateEnds) {
  const Ended ended =
      in_child(nothing, [] { std::thread([] { throw Recursive(); }).join(); });
  EXPECT_EQ(ended.told,
            "std::terminate: called for an exception that cannot be read\n");
  EXPECT_EQ(ended.status, 128 + SIGABRT);
}

// G6
TEST(CrashHandlers, TerminateHandlerIsGivenBack) {
  const std::terminate_handler before = std::get_terminate();
  {
    const CrashScope scope;
    EXPECT_NE(std::get_terminate(), before);
  }
  EXPECT_EQ(std::get_terminate(), before);
}

}  // namespace
}  // namespace mishap::collector
