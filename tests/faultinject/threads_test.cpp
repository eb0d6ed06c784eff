#include <gmock/gmock.h>
#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/hit_trace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "support.h"

namespace mishap::faultinject {
namespace {

constexpr char kSharedPoint[] = "hook/threads/module";

TEST(ThreadsTest, OneCountIsSharedExactly) {
  const auto scenario = arm_text("hook/threads/module=100*off->50*throw(int)");
  std::atomic<int> thrown = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (const char c : hits(kSharedPoint, 500)) {
        if (c == 'X') ++thrown;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(thrown, 50);
  EXPECT_EQ(scenario.fired(), 50u);
  EXPECT_THAT(scenario.firings(), ::testing::SizeIs(50));
}

TEST(ThreadsTest, ArmingAndDisarmingWhileOthersHitIsSafe) {
  const std::uint64_t before = firing_sequence();
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_over) {
        hits(kSharedPoint, 20);
        FiringLabel label;
        if (last_fired(label) && label.sequence > before) {
          EXPECT_STREQ(label.action, "throw(runtime,text)");
        }
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const auto scenario = arm_text("hook/*/module=50%throw(runtime,text)");
    const HitTrace trace(Scope::process(), 64);
    std::this_thread::yield();
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(armed_count(), 0u);
}

TEST(ThreadsTest, ATraceOfSeveralThreadsLosesNothing) {
  HitTrace trace;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] { hits(kSharedPoint, 250); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(trace.sequence(), ::testing::SizeIs(1000));
}

// Neither side allocates: a sanitizer's allocator does not survive the fork of
// a process with threads.
TEST(ThreadsTest, AForkedChildCanBeHitWhileOthersWereHitting) {
  const auto scenario = arm_text("io/threads/child=errno(EIO)");
  const PointId in_child = intern("io/threads/child");
  const PointId in_parent = intern(kSharedPoint);
  std::atomic<bool> is_over = false;
  std::thread busy([&] {
    while (!is_over) hit(in_parent);
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(10);
      ::_exit(hit(in_child).number == EIO ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  is_over = true;
  busy.join();
}

}  // namespace
}  // namespace mishap::faultinject
