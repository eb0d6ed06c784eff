#include <alloca.h>
#include <gtest/gtest.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/resolve/stack_walk.h>
#include <signal.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace sample {
namespace {

using Addresses = std::vector<std::uintptr_t>;
using Probe = std::function<void()>;

_Unwind_Reason_Code add_address(_Unwind_Context* context, void* data) {
  auto& addresses = *static_cast<Addresses*>(data);
  // The unwinder shows the end of the stack as a null.
  if (_Unwind_GetIP(context) != 0) {
    addresses.push_back(_Unwind_GetIP(context));
  }
  return _URC_NO_REASON;
}

[[gnu::noinline]] int plain(int depth, const Probe& probe) {
  if (depth == 0) {
    probe();
    return 0;
  }
  const int below = plain(depth - 1, probe);
  asm volatile("" ::: "memory");
  return below + 1;
}

[[gnu::noinline]] int with_alloca(int depth, const Probe& probe) {
  if (depth == 0) {
    probe();
    return 0;
  }
  const auto size = static_cast<std::size_t>(depth) * 37;
  auto* block = static_cast<char*>(alloca(size));
  std::memset(block, depth, size);
  const int below = with_alloca(depth - 1, probe);
  return below + block[size - 1];
}

[[gnu::noinline]] int with_many_registers(int depth, const Probe& probe) {
  std::array<int, 64> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = depth * static_cast<int>(i);
    asm volatile("" : "+r"(values[i]));
  }
  const int below = depth == 0 ? (probe(), 0) : with_alloca(depth - 1, probe);
  int sum = below;
  for (const int value : values) {
    sum += value;
  }
  return sum;
}

[[gnu::noinline]] int with_aligned_frame(const Probe& probe) {
  alignas(256) std::array<char, 256> block{};
  asm volatile("" : : "r"(block.data()) : "memory");
  probe();
  return block[0];
}

const Probe* qsort_probe = nullptr;
int compare(const void*, const void*) {
  if (qsort_probe != nullptr) {
    (*std::exchange(qsort_probe, nullptr))();
  }
  return 0;
}

const Probe* signal_probe = nullptr;
void on_signal(int) { (*signal_probe)(); }

}  // namespace
}  // namespace sample

namespace mishap::collector {
namespace {

using sample::Addresses;
using sample::Probe;

// The two stacks, from the frame that they share on outwards.
struct TwoStacks {
  Addresses walked;
  Addresses unwound;
  bool walk_gave_up = false;
};

[[gnu::noinline]] void take(TwoStacks& stacks) {
  std::array<std::uintptr_t, 256> storage{};
  const std::size_t size = detail::walk_stack(storage);
  stacks.walk_gave_up = size == 0;
  stacks.walked.assign(storage.begin(),
                       storage.begin() + static_cast<std::ptrdiff_t>(size));
  _Unwind_Backtrace(sample::add_address, &stacks.unwound);
  if (!stacks.walked.empty()) {
    stacks.walked.erase(stacks.walked.begin());
  }
  stacks.unwound.erase(stacks.unwound.begin());
}

class StackWalk : public testing::Test {
 protected:
  void SetUp() override {
    TwoStacks stacks;
    take(stacks);
    if (stacks.walk_gave_up) {
      GTEST_SKIP() << "no stack walk for this machine or this stack";
    }
  }

  static TwoStacks taken_in(const std::function<void(const Probe&)>& caller) {
    TwoStacks stacks;
    caller([&] { take(stacks); });
    return stacks;
  }

  static void expect_same(const TwoStacks& stacks) {
    EXPECT_FALSE(stacks.walk_gave_up);
    EXPECT_EQ(stacks.walked, stacks.unwound);
    EXPECT_GT(stacks.walked.size(), 3U);
  }
};

TEST_F(StackWalk, AgreesWithTheUnwinderAtEveryDepth) {
  for (int depth = 0; depth < 100; ++depth) {
    expect_same(
        taken_in([&](const Probe& probe) { sample::plain(depth, probe); }));
  }
}

TEST_F(StackWalk, AgreesInFunctionsWhoseFrameSizeVaries) {
  for (int depth = 0; depth < 50; ++depth) {
    expect_same(taken_in(
        [&](const Probe& probe) { sample::with_alloca(depth, probe); }));
    expect_same(taken_in([&](const Probe& probe) {
      sample::with_many_registers(depth, probe);
    }));
  }
}

TEST_F(StackWalk, AgreesThroughACallbackOfTheCLibrary) {
  expect_same(taken_in([](const Probe& probe) {
    std::array<int, 8> values{3, 1, 2, 5, 4, 8, 7, 6};
    sample::qsort_probe = &probe;
    std::qsort(values.data(), values.size(), sizeof(int), sample::compare);
  }));
}

TEST_F(StackWalk, AgreesOnOtherThreads) {
  TwoStacks stacks;
  std::thread([&] { sample::plain(5, [&] { take(stacks); }); }).join();
  expect_same(stacks);
}

TEST_F(StackWalk, AgreesWhileManyThreadsWalk) {
  std::vector<TwoStacks> stacks(4);
  std::vector<std::thread> threads;
  for (TwoStacks& mine : stacks) {
    threads.emplace_back([&mine] {
      for (int depth = 0; depth < 50; ++depth) {
        mine = TwoStacks();
        sample::with_alloca(depth, [&] { take(mine); });
        ASSERT_EQ(mine.walked, mine.unwound);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(StackWalk, LeavesAFrameThatAlignsItsStackToTheUnwinder) {
  const TwoStacks stacks = taken_in(sample::with_aligned_frame);
  EXPECT_TRUE(stacks.walk_gave_up || stacks.walked == stacks.unwound);
}

TEST_F(StackWalk, GivesWayToTheUnwinderInASignalHandler) {
  RawTrace outside;
  capture_stack(outside);
  RawTrace inside;
  const Probe probe = [&] { capture_stack(inside); };
  sample::signal_probe = &probe;
  struct sigaction action {};
  struct sigaction previous {};
  action.sa_handler = sample::on_signal;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &previous), 0);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &previous, nullptr);
  ASSERT_GT(inside.size, outside.size);
  EXPECT_TRUE(std::equal(
      outside.addresses.begin() + 1, outside.addresses.begin() + outside.size,
      inside.addresses.begin() + inside.size - outside.size + 1));
}

TEST_F(StackWalk, StopsWhenTheStorageIsFull) {
  std::array<std::uintptr_t, 3> few{};
  std::size_t size = 0;
  sample::plain(10, [&] { size = detail::walk_stack(few); });
  EXPECT_EQ(size, few.size());
}

}  // namespace
}  // namespace mishap::collector
