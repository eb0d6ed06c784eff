#include <gtest/gtest.h>
#include <mishap/collector/clock.h>
#include <mishap/collector/resolve/capture.h>
#include <mishap/collector/resolve/resolver.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/collector/throw_site.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "throw_helpers.h"

namespace sample {
namespace {

int check_line = 0;
int step_line = 0;

[[gnu::always_inline]] inline void check_rows(int rows) {
  check_line = __LINE__ + 2;
  if (rows > 0) {
    throw std::runtime_error("rows");
  }
}

[[gnu::noinline]] void training_step(int rows) {
  step_line = __LINE__ + 1;
  check_rows(rows);
}

[[gnu::noinline]] int recurse(int depth, mishap::collector::RawTrace& trace) {
  if (depth == 0) {
    mishap::collector::capture_stack(trace);
    return 0;
  }
  const int below = recurse(depth - 1, trace);
  asm volatile("" ::: "memory");
  return below + 1;
}

}  // namespace
}  // namespace sample

namespace mishap::collector {
namespace {

using sample::caught;

class Frames : public testing::Test {
 protected:
  void SetUp() override {
    if (resolver_backend() == "none") {
      GTEST_SKIP() << "this build has no names";
    }
  }
};

bool has_inlined_frames() { return resolver_backend() == "libbacktrace"; }

RawTrace trace_of(const std::exception_ptr& error) {
  const auto site = find_throw_site(error);
  return site ? site->trace : RawTrace{};
}

bool named(const Frame& frame, std::string_view name) {
  return frame.function.find(name) != std::string_view::npos;
}

TEST_F(Frames, ShowAnInlinedHelperAndItsCallerEachWithItsLine) {
  if (!has_inlined_frames()) {
    GTEST_SKIP() << resolver_backend() << " does not know inlined calls";
  }
  const ThrowCaptureScope scope;
  volatile int rows = 3;
  const auto stack =
      symbolize(trace_of(caught([&] { sample::training_step(rows); })));
  ASSERT_GE(stack.frames.size(), 2U);
  const Frame& helper = stack.frames[0];
  const Frame& caller = stack.frames[1];
  EXPECT_TRUE(named(helper, "check_rows")) << helper.function;
  EXPECT_EQ(helper.line, sample::check_line) << helper.file;
  EXPECT_TRUE(helper.inlined);
  EXPECT_TRUE(helper.in_app);
  EXPECT_TRUE(
      named(caller, "sample::(anonymous namespace)::training_step(int)"))
      << caller.function;
  EXPECT_EQ(caller.line, sample::step_line);
  EXPECT_FALSE(caller.inlined);
  EXPECT_EQ(caller.address, helper.address);
}

TEST_F(Frames, NameTheModuleAndTheOffsetInIt) {
  RawTrace trace;
  sample::recurse(0, trace);
  const auto stack = symbolize(trace);
  ASSERT_FALSE(stack.frames.empty());
  const Frame& frame = stack.frames[0];
  ASSERT_NE(frame.module, kNoModule);
  const Module& module = module_at(static_cast<std::size_t>(frame.module));
  EXPECT_TRUE(module.is_executable);
  EXPECT_EQ(frame.offset + module.load_address, frame.address);
}

TEST_F(Frames, EndInMainAndTheStartUpCodeThatIsNotInApp) {
  RawTrace trace;
  sample::recurse(0, trace);
  const auto stack = symbolize(trace);
  const auto has_main = [](const Frame& f) { return f.function == "main"; };
  EXPECT_NE(std::find_if(stack.frames.begin(), stack.frames.end(), has_main),
            stack.frames.end());
  EXPECT_FALSE(stack.frames.back().in_app);
}

TEST_F(Frames, OfADeepStackAreTheInnermostOnesAndMarkedAsCut) {
  RawTrace trace;
  sample::recurse(200, trace);
  EXPECT_EQ(trace.size, RawTrace::kMaxFrames);
  EXPECT_TRUE(trace.truncated);
  const auto stack = symbolize(trace);
  EXPECT_TRUE(stack.truncated);
  EXPECT_TRUE(named(stack.frames.front(), "recurse"));
  EXPECT_TRUE(named(stack.frames.back(), "recurse"));
}

TEST_F(Frames, OfAShallowStackAreComplete) {
  RawTrace trace;
  std::thread([&] { sample::recurse(3, trace); }).join();
  EXPECT_FALSE(trace.truncated);
  EXPECT_GE(trace.size, 4U);
}

TEST_F(Frames, FitIntoTheCallersStorage) {
  RawTrace trace;
  sample::recurse(10, trace);
  std::array<Frame, 3> few;
  const FrameCount count = symbolize(trace, few);
  EXPECT_EQ(count.frames, few.size());
  EXPECT_TRUE(count.truncated);
  EXPECT_TRUE(named(few[2], "recurse"));
}

// pytorch#195462, backward-cpp#203: names may take longer than anybody waits.
TEST_F(Frames, KeepTheirNamesForLaterWhenTheTimeIsUp) {
  RawTrace trace;
  sample::recurse(5, trace);
  std::array<Frame, 64> frames;
  const FrameCount count =
      symbolize(trace, frames, Clock::system().steady_nano());
  ASSERT_EQ(count.frames, trace.size);
  EXPECT_EQ(count.unnamed, trace.size);
  for (std::size_t i = 0; i < count.frames; ++i) {
    EXPECT_TRUE(frames[i].function.empty());
    EXPECT_EQ(frames[i].address, trace.addresses[i]);
  }
  EXPECT_TRUE(frames[0].in_app);
  const FrameCount all =
      symbolize(trace, frames, Clock::system().steady_nano() + 60'000'000'000);
  EXPECT_EQ(all.unnamed, 0U);
  EXPECT_FALSE(frames[0].function.empty());
}

TEST_F(Frames, CanBeLocatedWithoutNames) {
  RawTrace trace;
  sample::recurse(2, trace);
  std::array<Frame, RawTrace::kMaxFrames> frames;
  const FrameCount count = locate(trace, frames);
  ASSERT_EQ(count.frames, trace.size);
  EXPECT_NE(frames[0].module, kNoModule);
  EXPECT_TRUE(frames[0].function.empty());
}

TEST_F(Frames, OfUnknownAddressesKeepTheAddress) {
  RawTrace trace;
  trace.size = 1;
  trace.addresses[0] = 0x10;
  const auto stack = symbolize(trace);
  ASSERT_EQ(stack.frames.size(), 1U);
  EXPECT_EQ(stack.frames[0].address, 0x10U);
  EXPECT_EQ(stack.frames[0].offset, 0x10U);
  EXPECT_EQ(stack.frames[0].module, kNoModule);
  EXPECT_FALSE(stack.frames[0].in_app);
}

TEST_F(Frames, OfAnExactAddressBelongToTheFunctionThatBeginsThere) {
  RawTrace trace;
  trace.size = 1;
  trace.exact_first = true;
  trace.addresses[0] = reinterpret_cast<std::uintptr_t>(&sample::recurse);
  const auto stack = symbolize(trace);
  ASSERT_FALSE(stack.frames.empty());
  EXPECT_TRUE(named(stack.frames.back(), "recurse"))
      << stack.frames.back().function;
}

TEST_F(Frames, KeepTheirTextsAndAreTheSameOnEveryThread) {
  RawTrace trace;
  sample::recurse(5, trace);
  const auto first = symbolize(trace);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto again = symbolize(trace);
      ASSERT_EQ(again.frames.size(), first.frames.size());
      for (std::size_t n = 0; n < first.frames.size(); ++n) {
        EXPECT_EQ(again.frames[n].function.data(),
                  first.frames[n].function.data());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace mishap::collector
