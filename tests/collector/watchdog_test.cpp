#include <gtest/gtest.h>
#include <mishap/collector/crash/deadline.h>
#include <mishap/collector/crash/watchdog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace mishap::collector {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kAfter{100};

class Work final : public Watched {
 public:
  ~Work() override { unwatch(); }

  std::atomic<int> hangs{0};
  std::atomic<std::int64_t> idle_millis{0};

 private:
  void on_hang(const Hang& hang) noexcept override {
    idle_millis = std::chrono::duration_cast<milliseconds>(hang.idle).count();
    ++hangs;
  }
};

void beat_for(Work& work, milliseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
    work.beat();
    std::this_thread::sleep_for(milliseconds(5));
  }
}

TEST(Watchdog, TellsOfWorkThatDoesNotGoOnAndOnceOnly) {
  Work work;
  ASSERT_TRUE(work.watch(kAfter, nullptr));
  std::this_thread::sleep_for(5 * kAfter);
  EXPECT_EQ(work.hangs, 1);
  EXPECT_GE(work.idle_millis, kAfter.count());
}

TEST(Watchdog, TellsAgainAfterProgress) {
  Work work;
  work.watch(kAfter, nullptr);
  std::this_thread::sleep_for(3 * kAfter);
  beat_for(work, kAfter);
  std::this_thread::sleep_for(3 * kAfter);
  EXPECT_EQ(work.hangs, 2);
}

TEST(Watchdog, IsQuietWhileWorkGoesOn) {
  Work work;
  work.watch(10 * kAfter, nullptr);
  beat_for(work, 5 * kAfter);
  EXPECT_EQ(work.hangs, 0);
}

TEST(Watchdog, JudgesTheInnermostWorkOnly) {
  Work outer;
  Work inner;
  outer.watch(kAfter, nullptr);
  inner.watch(kAfter, &outer);
  std::this_thread::sleep_for(4 * kAfter);
  EXPECT_EQ(outer.hangs, 0);
  EXPECT_EQ(inner.hangs, 1);
  inner.unwatch();
  std::this_thread::sleep_for(4 * kAfter);
  EXPECT_EQ(outer.hangs, 1);
}

TEST(Watchdog, HearsOfAShorterTimeWhileItSleeps) {
  Work patient;
  Work hasty;
  patient.watch(std::chrono::hours(1), nullptr);
  std::this_thread::sleep_for(kAfter);
  hasty.watch(kAfter, nullptr);
  std::this_thread::sleep_for(5 * kAfter);
  EXPECT_EQ(patient.hangs, 0);
  EXPECT_EQ(hasty.hangs, 1);
}

TEST(Watchdog, OfAForkedChildWatchesWhatTheChildAsksFor) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "no thread can be started there after such a fork";
#endif
  Work of_parent;
  of_parent.watch(10 * kAfter, nullptr);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    Work own;
    own.watch(kAfter, nullptr);
    std::this_thread::sleep_for(5 * kAfter);
    _exit(own.hangs * 10 + of_parent.hangs);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 10);
}

std::atomic<int> passed{0};
constinit Deadline deadline([](const void*) { ++passed; });

void wait_for_deadline() {
  const auto end = Clock::now() + std::chrono::seconds(10);
  while (passed == 0 && Clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(1));
  }
}

TEST(Deadlines, CallWhenTheTimeHasPassed) {
  passed = 0;
  const auto start = Clock::now();
  ASSERT_TRUE(deadline.arm(kAfter));
  wait_for_deadline();
  EXPECT_EQ(passed, 1);
  EXPECT_GE(Clock::now() - start, kAfter);
}

TEST(Deadlines, ArmedAnewWaitForTheNewTime) {
  passed = 0;
  ASSERT_TRUE(deadline.arm(std::chrono::hours(1)));
  ASSERT_TRUE(deadline.arm(kAfter));
  wait_for_deadline();
  std::this_thread::sleep_for(kAfter);
  EXPECT_EQ(passed, 1);
}

TEST(Deadlines, DisarmedCallNobody) {
  passed = 0;
  ASSERT_TRUE(deadline.arm(kAfter));
  deadline.disarm();
  std::this_thread::sleep_for(2 * kAfter);
  EXPECT_EQ(passed, 0);
}

TEST(Deadlines, OfAForkedChildAreItsOwn) {
  passed = 0;
  ASSERT_TRUE(deadline.arm(std::chrono::hours(1)));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    deadline.arm(kAfter);
    wait_for_deadline();
    _exit(passed);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  deadline.disarm();
}

}  // namespace
}  // namespace mishap::collector
