#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/crash/all_threads.h>
#include <mishap/collector/crash/own_signal.h>
#include <mishap/collector/crash/thread_registry.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/resolve/symbolize.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "allocation_counter.h"

namespace sample {

// Each sort of waiting in a function of its own, whose name has to come back.
std::mutex lock_of_another;
std::atomic<bool> goes_on{true};

[[gnu::noinline]] void waits_for_a_lock() {
  const std::lock_guard lock(lock_of_another);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void spins() {
  while (goes_on.load(std::memory_order_relaxed)) {
    asm volatile("" ::: "memory");
  }
}

[[gnu::noinline]] void sleeps() {
  while (goes_on.load()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

[[gnu::noinline]] void polls() {
  while (goes_on.load()) {
    poll(nullptr, 0, 20);
    asm volatile("" ::: "memory");
  }
}

[[gnu::noinline]] void sleeps_deaf() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  sleeps();
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] int deep(int depth) {
  if (depth == 0) {
    sleeps();
    return 0;
  }
  const int below = deep(depth - 1);
  asm volatile("" ::: "memory");
  return below + 1;
}

}  // namespace sample

namespace mishap::collector {
namespace {

using std::chrono::milliseconds;

// There a thread that spins or waits for a lock hears no signal, and one of the
// sanitizer's own blocks them all.
#if defined(__SANITIZE_THREAD__)
constexpr bool kUnderTsan = true;
#else
constexpr bool kUnderTsan = false;
#endif
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class AllThreads : public testing::Test {
 protected:
  AllThreads() {
    warm_up_capture();
    sample::goes_on = true;
    held_ = std::unique_lock(sample::lock_of_another);
  }
  ~AllThreads() override {
    sample::goes_on = false;
    held_.unlock();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  // Starts a thread in `body` and waits until it has had time to get there.
  std::int32_t start(const std::function<void()>& body) {
    std::atomic<std::int32_t> id{0};
    threads_.emplace_back([&id, body] {
      pthread_setname_np(pthread_self(), "sample-thread");
      id = gettid();
      body();
    });
    while (id == 0) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(milliseconds(30));
    return id;
  }

  std::span<const ThreadStack> capture(const AllThreadsOptions& options = {}) {
    stacks_.resize(kMaxStackThreads);
    return std::span(stacks_).first(capture_all_threads(stacks_, options));
  }

  static const ThreadStack* find(std::span<const ThreadStack> all,
                                 std::int32_t id) {
    for (const ThreadStack& thread : all) {
      if (thread.id == id) {
        return &thread;
      }
    }
    return nullptr;
  }

  static std::vector<std::string> functions(const ThreadStack& thread) {
    std::vector<std::string> names;
    for (const Frame& frame : symbolize(thread.trace).frames) {
      names.emplace_back(frame.function);
    }
    return names;
  }

 private:
  std::vector<std::thread> threads_;
  std::vector<ThreadStack> stacks_;
  std::unique_lock<std::mutex> held_;
};

TEST_F(AllThreads, AreFoundWhereTheyWait) {
  const std::int32_t lock = start(sample::waits_for_a_lock);
  const std::int32_t sleep = start(sample::sleeps);
  const std::int32_t polling = start(sample::polls);
  const auto all = capture();
  ASSERT_NE(find(all, lock), nullptr);
  EXPECT_TRUE(kUnderTsan ||
              ::testing::Matches(Contains(HasSubstr("waits_for_a_lock")))(
                  functions(*find(all, lock))));
  EXPECT_THAT(functions(*find(all, sleep)), Contains(HasSubstr("sleeps")));
  EXPECT_THAT(functions(*find(all, polling)), Contains(HasSubstr("polls")));
  EXPECT_EQ(find(all, lock)->name(), "sample-thread");
  EXPECT_THAT(std::string(find(all, lock)->state()), StartsWith("S"));
}

TEST_F(AllThreads, AreFoundWhereTheySpin) {
  if (kUnderTsan) {
    GTEST_SKIP();
  }
  const std::int32_t spinning = start(sample::spins);
  const auto all = capture();
  ASSERT_NE(find(all, spinning), nullptr);
  EXPECT_THAT(functions(*find(all, spinning)), Contains(HasSubstr("spins")));
  EXPECT_EQ(find(all, spinning)->state(), "R");
}

TEST_F(AllThreads, TheOneThatAsksIsAmongThem) {
  const auto all = capture();
  const ThreadStack* const self = find(all, gettid());
  ASSERT_NE(self, nullptr);
  EXPECT_THAT(functions(*self), Contains(HasSubstr("capture_all_threads")));
  EXPECT_EQ(self->role, "main");
}

TEST_F(AllThreads, TheOneAskedForComesFirst) {
  start(sample::sleeps);
  const std::int32_t second = start(sample::sleeps);
  AllThreadsOptions options;
  options.first = second;
  EXPECT_EQ(capture(options)[0].id, second);
}

TEST_F(AllThreads, RegisteredOnesHaveTheirRole) {
  const std::int32_t registered = start([] {
    const ThreadScope scope("worker");
    sample::sleeps();
  });
  const std::int32_t other = start(sample::sleeps);
  const auto all = capture();
  EXPECT_EQ(find(all, registered)->role, "worker");
  EXPECT_EQ(find(all, other)->role, "");
}

TEST_F(AllThreads, DeepStacksAreCutAndSaySo) {
  const std::int32_t deep =
      start([] { sample::deep(2 * static_cast<int>(RawTrace::kMaxFrames)); });
  const auto all = capture();
  EXPECT_EQ(find(all, deep)->trace.size, RawTrace::kMaxFrames);
  EXPECT_TRUE(find(all, deep)->trace.truncated);
}

// pytorch#76287, pytorch#167023: a reporter that hangs while it reports.
TEST_F(AllThreads, ThatBlockTheSignalAreMarkedAndNotWaitedFor) {
  const std::int32_t deaf = start(sample::sleeps_deaf);
  AllThreadsOptions options;
  options.wait = std::chrono::seconds(20);
  const auto start = std::chrono::steady_clock::now();
  const auto all = capture(options);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(find(all, deaf)->trace.size, 0U);
  EXPECT_THAT(std::string(find(all, deaf)->state()),
              HasSubstr(", blocks the signal"));
}

// backward-cpp#47, backward-cpp#265: the heap's lock may be held for ever.
TEST_F(AllThreads, AreAskedWithoutTheHeap) {
  start(sample::waits_for_a_lock);
  start(sample::polls);
  capture();
  const std::size_t before = allocations();
  std::array<ThreadStack, 8> few;
  const std::size_t count = capture_all_threads(few);
  EXPECT_EQ(allocations(), before);
  EXPECT_GE(count, 3U);
}

TEST_F(AllThreads, GoOnAfterwards) {
  start(sample::polls);
  for (int i = 0; i < 50; ++i) {
    EXPECT_GE(capture().size(), 2U);
  }
}

TEST_F(AllThreads, OfManyAllAnswer) {
  constexpr int kThreads = 60;
  for (int i = 0; i < kThreads; ++i) {
    start(sample::sleeps);
  }
  const auto all = capture();
  EXPECT_GE(all.size(), kThreads + 1U);
  for (const ThreadStack& thread : all) {
    EXPECT_TRUE(thread.trace.size > 0 ||
                (kUnderTsan && thread.name() != "sample-thread"))
        << thread.state();
  }
}

// The exit status of `body` in a child, 128 + n for signal n.
int status_of(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(OwnSignal, IsNoneThatTheProgramHandlesOrWaitsFor) {
  EXPECT_EQ(status_of([] {
              const int handled = SIGRTMAX - 2;
              const int awaited = SIGRTMAX - 3;
              signal(handled, [](int) {});
              sigset_t set;
              sigemptyset(&set);
              sigaddset(&set, awaited);
              pthread_sigmask(SIG_BLOCK, &set, nullptr);
              std::array<ThreadStack, 4> few;
              capture_all_threads(few);
              return own_signal() == SIGRTMAX - 4 ? 0 : 1;
            }),
            0);
}

TEST(OwnSignal, TakenByTheProgramLaterMakesWayForAnother) {
  EXPECT_EQ(status_of([] {
              std::array<ThreadStack, 4> few;
              capture_all_threads(few);
              const int first = own_signal();
              signal(first, [](int) {});
              capture_all_threads(few);
              return own_signal() == first - 1 ? 0 : 1;
            }),
            0);
}

TEST(OwnSignal, SentByOthersDoesWhatItDidWithoutUs) {
  EXPECT_EQ(status_of([] {
              std::array<ThreadStack, 4> few;
              capture_all_threads(few);
              kill(getpid(), own_signal());
              return 0;
            }),
            128 + SIGRTMAX - 2);
}

}  // namespace
}  // namespace mishap::collector
