#include <gtest/gtest.h>
#include <mishap/collector/exception_chain.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/collector/throw_site.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "throw_helpers.h"

namespace sample {
namespace {

[[gnu::noinline]] void throw_at_any_time() {
  throw std::runtime_error("at any time");
}

bool is_found() {
  const mishap::collector::ThrowCaptureScope scope;
  const std::exception_ptr error = caught(throw_at_any_time);
  return mishap::collector::find_throw_site(error).has_value();
}

struct ThrowsBeforeMain {
  bool is_found = sample::is_found();
};
const ThrowsBeforeMain before_main;

struct ThrowsAtEnd {
  ~ThrowsAtEnd() { _exit(is_found() ? 7 : 1); }
};

struct ThrowsAsThreadEnds {
  bool* found = nullptr;
  ~ThrowsAsThreadEnds() { *found = is_found(); }
};

// Its text costs a throw of its own.
struct ThrowsInWhat : std::runtime_error {
  using std::runtime_error::runtime_error;
  const char* what() const noexcept override {
    try {
      throw_at_any_time();
    } catch (const std::runtime_error&) {
    }
    return "after another throw";
  }
};

}  // namespace
}  // namespace sample

namespace mishap::collector {
namespace {

using sample::caught;

bool has_function(const ThrowSite& site, std::string_view name) {
  const SymbolizedStack stack = symbolize(site.trace);
  return std::ranges::any_of(stack.frames, [&](const Frame& frame) {
    return frame.function.find(name) != std::string_view::npos;
  });
}

TEST(ThrowAnywhere, IsFoundBeforeMain) {
  EXPECT_TRUE(sample::before_main.is_found);
}

TEST(ThrowAnywhereDeathTest, IsFoundWhileStaticObjectsAreDestroyed) {
  EXPECT_EXIT(
      {
        static const sample::ThrowsAtEnd at_end;
        std::exit(0);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(ThrowAnywhere, IsFoundWhileAThreadsObjectsAreDestroyed) {
  bool found = false;
  std::thread([&] {
    thread_local sample::ThrowsAsThreadEnds at_end;
    at_end.found = &found;
  }).join();
  EXPECT_TRUE(found);
}

TEST(ThrowAnywhere, TextThatThrowsDoesNotHideTheFirstThrow) {
  const ThrowCaptureScope scope;
  const std::exception_ptr error =
      caught([] { throw sample::ThrowsInWhat("not shown"); });
  const auto chain = std::make_unique<ExceptionChain>();
  chain->describe(error);
  ASSERT_EQ(chain->entries().size(), 1U);
  EXPECT_EQ(chain->entries()[0].message, "after another throw");
  ASSERT_TRUE(chain->entries()[0].site);
  EXPECT_FALSE(has_function(*chain->entries()[0].site, "throw_at_any_time"));
}

// A sampler should not throw, but what it calls may.
TEST(ThrowAnywhere, ThrowInsideTheCaptureStartsNoOther) {
  static std::exception_ptr inner;
  const ThrowSampler before =
      set_throw_sampler([](std::span<std::byte, 64>) noexcept {
        inner = caught(sample::throw_at_any_time);
      });
  std::exception_ptr outer;
  {
    const ThrowCaptureScope scope;
    outer = caught([] { throw 42; });
  }
  set_throw_sampler(before);
  EXPECT_TRUE(find_throw_site(outer));
  EXPECT_TRUE(inner);
  EXPECT_FALSE(find_throw_site(inner));
  inner = nullptr;
}

TEST(LiveThrows, ListsWhatWasThrownAndStillLives) {
  const ThrowCaptureScope scope;
  std::exception_ptr kept;
  std::thread([&] { kept = caught(sample::throw_at_any_time); }).join();
  caught([] { throw 1; });
  std::array<LiveThrow, 16> all;
  const std::size_t size = live_throws(all);
  const auto is_kept = [](const LiveThrow& live) {
    return *live.type == typeid(std::runtime_error);
  };
  EXPECT_EQ(std::count_if(all.begin(), all.begin() + size, is_kept), 1);
  const auto found = std::find_if(all.begin(), all.begin() + size, is_kept);
  const auto site = find_throw_site(kept);
  ASSERT_TRUE(site);
  EXPECT_EQ(found->thread_id, site->thread_id);
  EXPECT_EQ(found->steady_nanos, site->steady_nanos);
  EXPECT_EQ(found->addresses[0], site->trace.addresses[0]);

  kept = nullptr;
  const std::size_t left = live_throws(all);
  EXPECT_EQ(std::count_if(all.begin(), all.begin() + left, is_kept), 0);
}

TEST(LiveThrows, FitIntoTheCallersStorage) {
  const ThrowCaptureScope scope;
  std::vector<std::exception_ptr> kept;
  for (int i = 0; i < 5; ++i) kept.push_back(caught([] { throw 1; }));
  std::array<LiveThrow, 2> few;
  EXPECT_EQ(live_throws(few), 2U);
  EXPECT_EQ(live_throws({}), 0U);
}

// The reader holds none of the objects that it looks at.
TEST(LiveThrows, AreWholeWhileOthersThrow) {
  const ThrowCaptureScope scope;
  std::atomic<bool> stop = false;
  std::vector<std::thread> throwers;
  for (int i = 0; i < 3; ++i) {
    throwers.emplace_back([&] {
      while (!stop) {
        caught(sample::throw_at_any_time);
        caught([] { throw 1; });
      }
    });
  }
  std::array<LiveThrow, 64> all;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t size = live_throws(all);
    for (std::size_t j = 0; j < size; ++j) {
      const bool is_known = *all[j].type == typeid(std::runtime_error) ||
                            *all[j].type == typeid(int);
      ASSERT_TRUE(is_known);
      ASSERT_GT(all[j].size, 0U);
    }
  }
  stop = true;
  for (std::thread& thrower : throwers) thrower.join();
}

}  // namespace
}  // namespace mishap::collector
