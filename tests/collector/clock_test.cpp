#include <gtest/gtest.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/uuid.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace mishap::collector {
namespace {

class SteppedClock final : public Clock {
 public:
  std::int64_t unix_nano() const noexcept override { return wall; }
  std::int64_t steady_nano() const noexcept override { return steady; }
  std::int64_t wall = 1'700'000'000'000'000'000;
  std::int64_t steady = 1;
};

TEST(Clock, SteadyTimeNeverGoesBack) {
  std::int64_t last = Clock::system().steady_nano();
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t now = Clock::system().steady_nano();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, SequenceNumbersAreDifferentOnEveryThread) {
  std::vector<std::vector<std::uint64_t>> drawn(4);
  std::vector<std::thread> threads;
  for (auto& numbers : drawn) {
    threads.emplace_back([&numbers] {
      for (int i = 0; i < 1'000; ++i) numbers.push_back(next_sequence());
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& numbers : drawn) all.insert(numbers.begin(), numbers.end());
  EXPECT_EQ(all.size(), 4'000U);
}

TEST(Uuid, HasVersionSevenAndTheMillisecondsOfTheClock) {
  SteppedClock clock;
  clock.wall = Clock::system().unix_nano() + 3'600'000'000'000;
  const Uuid id = make_uuid(clock);
  const std::string text(id.view());
  EXPECT_TRUE(is_uuid(text)) << text;
  EXPECT_EQ(text[14], '7');
  EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos);
  const auto millis =
      std::stoll(text.substr(0, 8) + text.substr(9, 4), nullptr, 16);
  EXPECT_EQ(millis, clock.wall / 1'000'000);
}

TEST(I8ClockGoesBackwards, IdsKeepTheirOrder) {
  SteppedClock clock;
  Uuid last = make_uuid(clock);
  for (int i = 0; i < 10'000; ++i) {
    clock.wall -= 1'000'000'000;
    const Uuid next = make_uuid(clock);
    ASSERT_LT(last, next);
    last = next;
  }
}

TEST(Uuid, MoreThanFitInAMillisecondStayDifferentAndOrdered) {
  SteppedClock clock;
  Uuid last = make_uuid(clock);
  for (int i = 0; i < 20'000; ++i) {
    const Uuid next = make_uuid(clock);
    ASSERT_LT(last, next);
    last = next;
  }
}

TEST(Uuid, ForkedProcessesDrawDifferentOnes) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Uuid id = make_uuid();
    _exit(write(ends[1], id.view().data(), 36) == 36 ? 0 : 1);
  }
  const Uuid ours = make_uuid();
  char theirs[36];
  ASSERT_EQ(read(ends[0], theirs, 36), 36);
  EXPECT_NE(ours.view(), std::string_view(theirs, 36));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(Uuid, TellsAnIdFromOtherTexts) {
  EXPECT_TRUE(is_uuid(Uuid().view()));
  EXPECT_FALSE(is_uuid(""));
  EXPECT_FALSE(is_uuid("01980000-0000-7000-8000-00000000000"));
  EXPECT_FALSE(is_uuid("01980000-0000-7000-8000-00000000000g"));
  EXPECT_FALSE(is_uuid("01980000x0000-7000-8000-000000000001"));
}

}  // namespace
}  // namespace mishap::collector
