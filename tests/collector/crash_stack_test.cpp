#include <gtest/gtest.h>
#include <mishap/collector/crash/crash.h>
#include <mishap/collector/crash/crash_stack.h>
#include <mishap/collector/crash/signal_words.h>
#include <signal.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace mishap::collector {
namespace {

#define MISHAP_APART [[gnu::noinline, gnu::noclone]]

CrashStack taken;

MISHAP_APART int deep(int depth) {
  if (depth == 0) {
    taken.take_here(__builtin_return_address(0));
    return 1;
  }
  const int result = deep(depth - 1);
  asm volatile("" ::: "memory");
  return result + 1;
}

MISHAP_APART int even(int depth);
MISHAP_APART int odd(int depth) {
  const int result = even(depth - 1);
  asm volatile("" ::: "memory");
  return result + 1;
}
MISHAP_APART int even(int depth) {
  if (depth == 0) {
    taken.take_here(__builtin_return_address(0));
    return 1;
  }
  const int result = odd(depth - 1);
  asm volatile("" ::: "memory");
  return result + 1;
}

TEST(CrashStack, ShallowStackIsWhole) {
  deep(3);
  EXPECT_FALSE(taken.truncated());
  EXPECT_EQ(taken.depth(), taken.addresses().size());
  EXPECT_EQ(taken.rounds(), 0U);
  EXPECT_FALSE(taken.exact_first());
}

TEST(CrashStack, RecursionIsFoldedToOneRound) {
  deep(0);
  const std::size_t outside = taken.depth();
  constexpr int kDepth = 5'000;
  deep(kDepth);
  EXPECT_EQ(taken.depth(), outside + kDepth);
  EXPECT_EQ(taken.round_frames(), 1U);
  EXPECT_EQ(taken.rounds(), static_cast<std::size_t>(kDepth));
  EXPECT_FALSE(taken.truncated());
  EXPECT_LE(taken.addresses().size(), taken.round_first() + 1 + outside);
}

TEST(CrashStack, RecursionOfSeveralFunctionsIsOneRoundOfAll) {
  constexpr int kDepth = 4'000;
  even(kDepth);
  EXPECT_EQ(taken.round_frames(), 2U);
  EXPECT_EQ(taken.rounds(), static_cast<std::size_t>(kDepth / 2));
}

TEST(CrashStack, OutermostFramesStayBehindARecursion) {
  deep(0);
  const std::uintptr_t outermost = taken.addresses().back();
  deep(3'000);
  EXPECT_EQ(taken.addresses().back(), outermost);
}

MISHAP_APART int wade(int depth, int after) {
  const int result = depth == 0 ? deep(after) : wade(depth - 1, after);
  asm volatile("" ::: "memory");
  return result + 1;
}

// Both ends of the inner recursion are seen, of the outer one neither.
TEST(CrashStack, FramesBetweenARecursionAndTheOutermostAreSaidToBeMissing) {
  constexpr int kInner = 100;
  wade(1'000, kInner);
  EXPECT_EQ(taken.rounds(), static_cast<std::size_t>(kInner));
  EXPECT_TRUE(taken.truncated());
}

// A crash's stack as its record has it, and the room that takes.
struct Told {
  std::array<RecordFrame, CrashStack::kFirst + CrashStack::kLast> frames;
  std::array<RecordRepeat, 4> repeats;

  RecordStack of(const Crash& crash, std::span<RecordRepeat> room) {
    const RowModule none = [](int, void*) {
      return std::optional<std::uint32_t>();
    };
    return fill_stack(crash, frames, room, none, nullptr);
  }
};

TEST(CrashStack, RecordTellsARecursionAsRepeats) {
  constexpr int kDepth = 5'000;
  Crash crash;
  deep(kDepth);
  crash.stack = taken;
  Told told;
  const RecordStack whole = told.of(crash, told.repeats);
  ASSERT_FALSE(whole.repeats.empty());
  EXPECT_EQ(whole.repeats[0].frames, 1U);
  EXPECT_EQ(whole.repeats[0].times, static_cast<std::size_t>(kDepth));
  EXPECT_EQ(whole.frames[whole.repeats[0].first].address,
            taken.addresses()[taken.round_first()]);
  EXPECT_FALSE(whole.truncated);
  // No room to say it: then frames are missing.
  EXPECT_TRUE(told.of(crash, {}).truncated);
}

// Too shallow for the walk to fold it.
TEST(CrashStack, RecordFoldsAShortRecursionToo) {
  constexpr int kDepth = 20;
  Crash crash;
  deep(kDepth);
  crash.stack = taken;
  ASSERT_EQ(taken.rounds(), 0U);
  Told told;
  const RecordStack whole = told.of(crash, told.repeats);
  ASSERT_FALSE(whole.repeats.empty());
  EXPECT_EQ(whole.repeats[0].times, static_cast<std::size_t>(kDepth));
  EXPECT_EQ(whole.frames.size(), taken.depth() - kDepth + 1);
}

TEST(SignalWords, NameCodeAndMeaning) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_code_name(SIGSEGV, SEGV_MAPERR), "SEGV_MAPERR");
  EXPECT_EQ(signal_code_name(SIGBUS, BUS_ADRERR), "BUS_ADRERR");
  EXPECT_EQ(signal_code_name(SIGFPE, SI_TKILL), "SI_TKILL");
  EXPECT_EQ(signal_code_name(SIGSEGV, 4711), "");
  EXPECT_EQ(signal_meaning(SIGSEGV, SEGV_MAPERR), "address not mapped");
  EXPECT_EQ(signal_meaning(SIGABRT, SI_TKILL), "abort() was called");
  EXPECT_EQ(signal_meaning(SIGABRT, SI_USER), "sent by kill()");
}

}  // namespace
}  // namespace mishap::collector
