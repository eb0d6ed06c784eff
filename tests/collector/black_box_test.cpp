#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/crash/black_box.h>
#include <mishap/collector/crash/box_names.h>
#include <mishap/collector/crash/box_writer.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace mishap::collector {
namespace {

constexpr BoxWhat kOuter{.hook = 1, .component = 1, .stage = 4};
constexpr BoxWhat kInner{.hook = 2, .component = 1, .stage = 4};

std::vector<BoxCrumb> crumbs_in(const BlackBox& box) {
  std::array<BoxCrumb, BlackBox::kCrumbs> crumbs;
  const std::size_t size = box.read(crumbs);
  return {crumbs.begin(), crumbs.begin() + static_cast<std::ptrdiff_t>(size)};
}

class BlackBoxTest : public testing::Test {
 protected:
  BlackBoxTest() { writer_.attach(box_); }

  // A call that takes that long, and as long again until the next one.
  void call(BoxWhat what, useconds_t micros) {
    writer_.enter({.what = what});
    if (micros > 0) usleep(micros);
    writer_.leave(what);
    if (micros > 0) usleep(micros);
  }

  std::int64_t took(const BoxCrumb& crumb) const {
    TickClock clock = box_.clock;
    clock.calibrate();
    return clock.steady_nanos(*crumb.end_ticks) -
           clock.steady_nanos(crumb.begin_ticks);
  }

  BlackBox box_;
  BoxWriter writer_;
};

TEST_F(BlackBoxTest, TellsNothingOfARunThatHasNotBegun) {
  EXPECT_EQ(box_.place(), std::nullopt);
  EXPECT_TRUE(crumbs_in(box_).empty());
  EXPECT_EQ(box_.last_ticks(), 0U);
  EXPECT_EQ(box_.pulse(), 0U);
}

TEST_F(BlackBoxTest, KeepsTheNewestCalls) {
  constexpr std::uint64_t kCalls = 3 * BlackBox::kCrumbs + 7;
  for (std::uint64_t i = 1; i <= kCalls; ++i) {
    call({.hook = static_cast<std::uint16_t>(i)}, 0);
  }
  const auto crumbs = crumbs_in(box_);
  ASSERT_EQ(crumbs.size(), BlackBox::kCrumbs);
  for (std::size_t i = 0; i < crumbs.size(); ++i) {
    EXPECT_EQ(crumbs[i].sequence, kCalls - BlackBox::kCrumbs + 1 + i);
    EXPECT_EQ(crumbs[i].what.hook, crumbs[i].sequence);
  }
}

TEST_F(BlackBoxTest, TellsWhereTheRunIsAfterANestedCall) {
  writer_.enter({kOuter, 1, 2, 3});
  writer_.enter({kInner, 1, 2, 3});
  EXPECT_EQ(box_.place()->what.hook, kInner.hook);
  writer_.leave(kInner);
  writer_.resume({kOuter, 1, 2, 4});
  EXPECT_EQ(box_.place()->what.hook, kOuter.hook);
  EXPECT_EQ(box_.place()->epoch, 1);
  EXPECT_EQ(box_.place()->batch, 2);
  EXPECT_EQ(box_.place()->step, 4);
  const auto crumbs = crumbs_in(box_);
  EXPECT_FALSE(crumbs[0].end_ticks);
  EXPECT_TRUE(crumbs[1].end_ticks);
}

TEST_F(BlackBoxTest, ACallThatAnExceptionLeftNeverReturns) {
  writer_.enter({kOuter});
  writer_.enter({kInner});
  writer_.leave(kOuter);
  const auto crumbs = crumbs_in(box_);
  EXPECT_TRUE(crumbs[0].end_ticks);
  EXPECT_FALSE(crumbs[1].end_ticks);
}

TEST_F(BlackBoxTest, CallsDeeperThanItFollowsStayOpen) {
  constexpr std::uint16_t kDepth = 40;
  for (std::uint16_t i = 1; i <= kDepth; ++i) writer_.enter({{.hook = i}});
  for (std::uint16_t i = kDepth; i >= 1; --i) writer_.leave({.hook = i});
  const auto crumbs = crumbs_in(box_);
  ASSERT_EQ(crumbs.size(), kDepth);
  EXPECT_TRUE(crumbs.front().end_ticks);
  EXPECT_FALSE(crumbs.back().end_ticks);
}

// The end of a call is its own, not the beginning of the next one...
TEST_F(BlackBoxTest, ALongCallTellsItsOwnEnd) {
  for (int i = 0; i < 3; ++i) call(kOuter, 3'000);
  for (const BoxCrumb& crumb : crumbs_in(box_)) {
    EXPECT_GE(took(crumb), 3'000'000);
    ASSERT_TRUE(crumb.end_ticks);
  }
  const auto crumbs = crumbs_in(box_);
  TickClock clock = box_.clock;
  clock.calibrate();
  EXPECT_GE(clock.steady_nanos(crumbs[1].begin_ticks) -
                clock.steady_nanos(*crumbs[0].end_ticks),
            3'000'000);
}

// ...but where calls follow each other within a microsecond.
TEST_F(BlackBoxTest, AQuickCallEndedWhenTheNextOneBegan) {
  int ended_together = 0;
  for (int i = 0; i < 64; ++i) call(kOuter, 0);
  const auto crumbs = crumbs_in(box_);
  for (std::size_t i = 0; i + 1 < crumbs.size(); ++i) {
    ended_together += crumbs[i].end_ticks == crumbs[i + 1].begin_ticks;
    EXPECT_LE(*crumbs[i].end_ticks, crumbs[i + 1].begin_ticks);
  }
  EXPECT_GT(ended_together, 32);
  ASSERT_TRUE(crumbs.back().end_ticks);
  EXPECT_EQ(*crumbs.back().end_ticks, crumbs.back().begin_ticks);
}

TEST_F(BlackBoxTest, ACallThatTurnsLongIsBelievedTheNextTime) {
  for (int i = 0; i < 8; ++i) call(kOuter, 0);
  for (int i = 0; i < 3; ++i) call(kOuter, 3'000);
  EXPECT_GE(took(crumbs_in(box_).back()), 3'000'000);
}

TEST_F(BlackBoxTest, TicksBecomeTheTimeOfTheSteadyClock) {
  usleep(20'000);
  const std::int64_t before = Clock::system().steady_nano();
  call(kOuter, 0);
  const std::int64_t after = Clock::system().steady_nano();
  TickClock clock = box_.clock;
  clock.calibrate();
  const std::int64_t at = clock.steady_nanos(box_.last_ticks());
  EXPECT_GE(at, before - 10'000);
  EXPECT_LE(at, after + 10'000);
}

// As a process leaves it that is killed between two stores: each prefix of the
// bytes that a call changes, in a box of the calls before.
TEST_F(BlackBoxTest, ATornCallIsPassedOver) {
  for (int i = 0; i < 70; ++i) call(kOuter, 0);
  auto torn = std::make_unique<BlackBox>();
  std::memcpy(static_cast<void*>(torn.get()), &box_, sizeof box_);
  BoxWriter writer = writer_;
  writer.attach(*torn);
  writer.enter({kInner, 7, 7, 7});
  const auto whole = crumbs_in(*torn);
  ASSERT_EQ(whole.back().what.hook, kInner.hook);
  // The call is there but for its sequence, which is stored last.
  auto* const words = reinterpret_cast<std::uint64_t*>(torn.get());
  std::size_t zeroed = 0;
  for (std::size_t i = 0; i < sizeof(BlackBox) / sizeof *words; ++i) {
    if (words[i] == whole.back().sequence) {
      words[i] = zeroed++ == 0 ? words[i] : 0;
    }
  }
  ASSERT_EQ(zeroed, 2U) << "where the run is, and the sequence of this call";
  const auto crumbs = crumbs_in(*torn);
  EXPECT_EQ(crumbs.size(), whole.size() - 1);
  EXPECT_NE(crumbs.back().what.hook, kInner.hook);
}

// A box in memory that outlives its writer, and how far that has come.
struct Shared {
  BlackBox box;
  std::atomic<int> stage{0};
};

// All numbers of call i are i.
void enter_numbered(BoxWriter& writer, std::uint16_t i) {
  writer.enter({{.hook = i, .component = i, .stage = i}, i, i, i});
}

// What a process leaves that is killed at whatever instruction of a call: the
// calls before it and perhaps this one, each of them whole.
TEST(BlackBox, IsWholeAfterEachInstructionOfItsWriter) {
  constexpr std::uint16_t kLast = 71;
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const shared = new (memory) Shared;
  const pid_t child = fork();
  if (child == 0) {
    BoxWriter writer;
    writer.attach(shared->box);
    for (std::uint16_t i = 1; i < kLast; ++i) enter_numbered(writer, i);
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    shared->stage = 1;
    enter_numbered(writer, kLast);
    writer.resume({{.hook = kLast, .component = kLast, .stage = kLast},
                   kLast,
                   kLast,
                   kLast});
    shared->stage = 2;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) GTEST_SKIP() << "no process may be traced here";
  int looks = 0;
  while (WIFSTOPPED(status) && shared->stage < 2) {
    ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (shared->stage != 1) continue;
    ++looks;
    const auto crumbs = crumbs_in(shared->box);
    ASSERT_GE(crumbs.size(), BlackBox::kCrumbs - 1);
    for (const BoxCrumb& crumb : crumbs) {
      ASSERT_EQ(crumb.what.hook, crumb.sequence) << "instruction " << looks;
      ASSERT_EQ(crumb.what.component, crumb.sequence);
    }
    const auto place = shared->box.place();
    ASSERT_TRUE(place);
    ASSERT_GE(place->what.hook, kLast - 1);
    ASSERT_EQ(place->what.hook, place->epoch) << "instruction " << looks;
    ASSERT_EQ(place->what.hook, place->batch);
    ASSERT_EQ(place->what.hook, place->step);
  }
  EXPECT_GT(looks, 20);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  munmap(memory, sizeof(Shared));
}

TEST_F(BlackBoxTest, AnythingMayLieInAFile) {
  auto box = std::make_unique<BlackBox>();
  for (const int byte : {0xff, 0x80, 0x7f, 0x01}) {
    std::memset(static_cast<void*>(box.get()), byte, sizeof *box);
    box->place();
    for (const BoxCrumb& crumb : crumbs_in(*box)) {
      TickClock clock = box->clock;
      clock.calibrate();
      clock.steady_nanos(crumb.begin_ticks);
    }
    box->clock.steady_nanos(box->last_ticks());
  }
  BoxNames names;
  std::memset(static_cast<void*>(&names), 0xff, sizeof names);
  EXPECT_TRUE(names.find(BoxNames::Kind::kHook, 3).empty());
}

// A hook's number, epoch, batch and step always belong together.
TEST_F(BlackBoxTest, AReaderOnAnotherThreadSeesWholePlaces) {
  std::atomic<bool> done{false};
  std::atomic<std::size_t> seen{0};
  std::thread writer([&] {
    BoxWriter own;
    own.attach(box_);
    for (std::uint16_t i = 1; i < 60'000; ++i) {
      // On one core the reader has to get its turn.
      while (i == 1'000 && seen == 0) std::this_thread::yield();
      const BoxWhat what{.hook = i, .component = i, .stage = i};
      own.enter({what, i, i, i});
      own.leave(what);
    }
    done = true;
  });
  while (!done) {
    if (const auto place = box_.place()) {
      ++seen;
      ASSERT_EQ(place->what.hook, place->step);
      ASSERT_EQ(place->what.component, place->epoch);
      ASSERT_EQ(place->what.stage, place->batch);
    }
    for (const BoxCrumb& crumb : crumbs_in(box_)) {
      ASSERT_EQ(crumb.what.hook, crumb.sequence % 65'536);
    }
  }
  writer.join();
  EXPECT_EQ(box_.place()->step, 59'999);
  EXPECT_GT(seen.load(), 0U);
}

TEST(BoxNamesTest, TellsTheNameOfANumberOfItsKind) {
  BoxNames names;
  names.add(BoxNames::Kind::kHook, 300, "training_step");
  names.add(BoxNames::Kind::kComponent, 300, "module");
  names.add(BoxNames::Kind::kHook, 300, "another");
  EXPECT_EQ(names.find(BoxNames::Kind::kHook, 300), "training_step");
  EXPECT_EQ(names.find(BoxNames::Kind::kComponent, 300), "module");
  EXPECT_TRUE(names.find(BoxNames::Kind::kStage, 300).empty());
}

TEST(BoxNamesTest, CutsLongNamesAndTakesNoMoreThanItHolds) {
  BoxNames names;
  const std::string longest(500, 'c');
  std::uint16_t number = 0;
  do {
    names.add(BoxNames::Kind::kComponent, ++number, longest);
  } while (!names.find(BoxNames::Kind::kComponent, number).empty());
  EXPECT_GT(number, 50);
  EXPECT_EQ(names.find(BoxNames::Kind::kComponent, 1), std::string(120, 'c'));
  EXPECT_EQ(names.find(BoxNames::Kind::kComponent,
                       static_cast<std::uint16_t>(number - 1)),
            std::string(120, 'c'));
}

}  // namespace
}  // namespace mishap::collector
