#include <gtest/gtest.h>
#include <mishap/collector/crash/thread_registry.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace mishap::collector {
namespace {

bool has_alternate_stack(std::size_t at_least) {
  stack_t current{};
  sigaltstack(nullptr, &current);
  return (current.ss_flags & SS_DISABLE) == 0 && current.ss_size >= at_least;
}

std::size_t size_of_alternate_stack() {
  stack_t current{};
  sigaltstack(nullptr, &current);
  return (current.ss_flags & SS_DISABLE) == 0 ? current.ss_size : 0;
}

TEST(ThreadRegistry, ThreadIsFoundWhileItsScopeLives) {
  EXPECT_FALSE(find_registered_thread(gettid()));
  {
    const ThreadScope scope("worker");
    const auto found = find_registered_thread(gettid());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->role, "worker");
    const int local = 0;
    const auto here = reinterpret_cast<std::uintptr_t>(&local);
    if (found->stack_low != 0) {
      EXPECT_LT(found->stack_low, here);
    }
#ifndef __SANITIZE_ADDRESS__  // Locals may lie on a heap of its own.
    EXPECT_GT(found->stack_high, here);
#endif
    EXPECT_EQ(this_thread_view().role, "worker");
  }
  EXPECT_FALSE(find_registered_thread(gettid()));
}

// sentry-native#977
TEST(ThreadRegistry, ScopeGivesAnAlternateStackAndTakesItAway) {
  std::thread([] {
    const std::size_t before = size_of_alternate_stack();
    {
      const ThreadScope outer("worker");
      {
        const ThreadScope inner("other");
        EXPECT_EQ(this_thread_view().role, "worker");
      }
      EXPECT_TRUE(has_alternate_stack(64 * 1024));
    }
    EXPECT_EQ(size_of_alternate_stack(), before);
  }).join();
}

TEST(ThreadRegistry, LargeStackOfTheProgramStays) {
  std::thread([] {
    std::vector<char> own(alternate_stack_bytes() * 2);
    stack_t mine{};
    mine.ss_sp = own.data();
    mine.ss_size = own.size();
    stack_t before{};
    ASSERT_EQ(sigaltstack(&mine, &before), 0);
    {
      const ThreadScope scope("worker");
      stack_t current{};
      sigaltstack(nullptr, &current);
      EXPECT_EQ(current.ss_sp, own.data());
    }
    sigaltstack(&before, nullptr);
  }).join();
}

TEST(ThreadRegistry, SmallStackOfTheProgramIsPutBack) {
  std::thread([] {
    std::vector<char> own(16 * 1024);
    stack_t mine{};
    mine.ss_sp = own.data();
    mine.ss_size = own.size();
    stack_t before{};
    ASSERT_EQ(sigaltstack(&mine, &before), 0);
    {
      const ThreadScope scope("worker");
      EXPECT_TRUE(has_alternate_stack(64 * 1024));
    }
    stack_t current{};
    sigaltstack(nullptr, &current);
    EXPECT_EQ(current.ss_sp, own.data());
    sigaltstack(&before, nullptr);
  }).join();
}

TEST(ThreadRegistry, ThreadOfOthersIsRegisteredUntilItEnds) {
  std::atomic<std::int32_t> id{0};
  std::thread([&] {
    for (int call = 0; call < 3; ++call) {
      register_thread_until_exit("loader");
    }
    id = gettid();
    EXPECT_EQ(find_registered_thread(gettid())->role, "loader");
    EXPECT_TRUE(has_alternate_stack(64 * 1024));
  }).join();
  EXPECT_FALSE(find_registered_thread(id));
}

TEST(ThreadRegistry, ForkedChildKnowsItselfAlone) {
  const ThreadScope scope("main");
  std::atomic<bool> registered{false};
  std::atomic<bool> done{false};
  std::thread other([&] {
    const ThreadScope theirs("worker");
    registered = true;
    while (!done) {
      std::this_thread::yield();
    }
  });
  while (!registered) {
    std::this_thread::yield();
  }
  const pid_t child = fork();
  if (child == 0) {
    std::array<RegisteredThread, 4> threads;
    const bool alone = registered_threads(threads) == 1 &&
                       threads[0].id == gettid() && threads[0].role == "main";
    _exit(alone ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::array<RegisteredThread, 4> threads;
  EXPECT_EQ(registered_threads(threads), 2U);
  done = true;
  other.join();
  EXPECT_EQ(status, 0);
}

TEST(ThreadRegistry, VisitorsMeetThreadsThatComeAndGo) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const ThreadScope scope("worker");
      }
    });
  }
  for (int i = 0; i < 20'000; ++i) {
    std::array<RegisteredThread, 8> seen;
    const std::size_t count = registered_threads(seen);
    ASSERT_LE(count, 4U);
    for (std::size_t k = 0; k < count; ++k) {
      ASSERT_EQ(seen[k].role, "worker");
    }
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(ThreadRegistry, NamesAreThoseOfTheKernel) {
  std::atomic<std::int32_t> id{0};
  std::atomic<bool> done{false};
  std::thread other([&] {
    pthread_setname_np(pthread_self(), "loader 1");
    id = gettid();
    while (!done) {
      std::this_thread::yield();
    }
  });
  while (id == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(thread_name(id).view(), "loader 1");
  done = true;
  other.join();
  EXPECT_EQ(thread_name(0).view(), "");
}

}  // namespace
}  // namespace mishap::collector
