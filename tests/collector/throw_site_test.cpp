#include <gtest/gtest.h>
#include <mishap/collector/resolve/resolver.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/collector/throw_site.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "throw_helpers.h"

namespace sample {
namespace {

struct Place {
  std::string_view function;
  int line = 0;
};
Place thrown_at;

[[gnu::noinline]] void throw_runtime_error() {
  thrown_at = {"throw_runtime_error", __LINE__ + 1};
  throw std::runtime_error("sample");
}

[[gnu::noinline]] int read_past_the_end(const std::vector<int>& values) {
  thrown_at = {"read_past_the_end", __LINE__ + 1};
  const int value = values.at(values.size() + 1);
  return value + 1;
}

[[gnu::noinline]] void rethrow_with_throw() {
  try {
    throw_runtime_error();
  } catch (...) {
    throw;
  }
}

}  // namespace
}  // namespace sample

namespace mishap::collector {
namespace {

using sample::caught;
using sample::thrown_at;

Frame first_in_app(const ThrowSite& site) {
  for (const Frame& frame : symbolize(site.trace).frames) {
    if (frame.in_app) {
      return frame;
    }
  }
  return {};
}

class ThrowSiteTest : public testing::Test {
 protected:
  void expect_thrown_there(const std::exception_ptr& error) {
    const auto site = find_throw_site(error);
    ASSERT_TRUE(site.has_value());
    if (resolver_backend() == "none") {
      GTEST_SKIP() << "this build has no names";
    }
    const Frame frame = first_in_app(*site);
    EXPECT_NE(frame.function.find(thrown_at.function), std::string_view::npos)
        << frame.function;
    EXPECT_EQ(frame.line, thrown_at.line);
    EXPECT_TRUE(frame.file.ends_with("throw_site_test.cpp")) << frame.file;
  }

 private:
  ThrowCaptureScope scope_;
};

TEST_F(ThrowSiteTest, IsTheFunctionThatThrew) {
  expect_thrown_there(caught(sample::throw_runtime_error));
}

TEST_F(ThrowSiteTest, IsTheCallerOfTheStandardLibraryThatThrew) {
  const std::vector<int> values(3);
  expect_thrown_there(caught([&] { sample::read_past_the_end(values); }));
}

TEST_F(ThrowSiteTest, BeginsInTheThrowingFunctionWithoutFramesOfTheHook) {
  const auto site = find_throw_site(caught(sample::throw_runtime_error));
  ASSERT_TRUE(site.has_value());
  const SymbolizedStack stack = symbolize(site->trace);
  EXPECT_EQ(stack.stripped, 0U);
  const int line = stack.frames.at(0).line;
  EXPECT_EQ(line, resolver_backend() == "none" ? 0 : thrown_at.line);
}

TEST_F(ThrowSiteTest, StripsTheStandardLibrarysThrowHelpers) {
  const std::vector<int> values(3);
  const auto site =
      find_throw_site(caught([&] { sample::read_past_the_end(values); }));
  ASSERT_TRUE(site.has_value());
  const SymbolizedStack stack = symbolize(site->trace);
  EXPECT_GE(stack.stripped, 1U);
  EXPECT_EQ(stack.frames.at(0).symbol.find("__throw_"), std::string_view::npos);
}

TEST_F(ThrowSiteTest, IsKeptByARethrow) {
  expect_thrown_there(caught(sample::rethrow_with_throw));
}

TEST_F(ThrowSiteTest, IsKeptByRethrowingAnExceptionPtr) {
  const std::exception_ptr first = caught(sample::throw_runtime_error);
  const std::exception_ptr again =
      caught([&] { std::rethrow_exception(first); });
  EXPECT_EQ(first, again);
  expect_thrown_there(again);
}

TEST_F(ThrowSiteTest, IsOfTheObjectWhenAnotherIsThrownAndHandledMeanwhile) {
  const std::exception_ptr error = caught([] {
    try {
      sample::throw_runtime_error();
    } catch (...) {
      const auto place = thrown_at;
      try {
        throw std::logic_error("unrelated");
      } catch (const std::logic_error&) {
      }
      thrown_at = place;
      throw;
    }
  });
  expect_thrown_there(error);
}

TEST_F(ThrowSiteTest, IsFoundFromAnotherThread) {
  const std::exception_ptr error = caught(sample::throw_runtime_error);
  std::thread([&] { expect_thrown_there(error); }).join();
}

TEST_F(ThrowSiteTest, NamesTheThreadThatThrewAlsoAfterItEnded) {
  std::exception_ptr error;
  std::int32_t thread_id = 0;
  std::thread([&] {
    pthread_setname_np(pthread_self(), "loader-7");
    thread_id = gettid();
    error = caught(sample::throw_runtime_error);
  }).join();
  expect_thrown_there(error);
  const auto site = find_throw_site(error);
  EXPECT_EQ(site->thread_id, thread_id);
  EXPECT_NE(site->thread_id, gettid());
  EXPECT_STREQ(site->thread_name.data(), "loader-7");
}

TEST_F(ThrowSiteTest, TravelsThroughAFuture) {
  auto future = std::async(std::launch::async, sample::throw_runtime_error);
  expect_thrown_there(caught([&] { future.get(); }));
}

TEST_F(ThrowSiteTest, IsUnknownForAnObjectThatWasNeverThrown) {
  const auto made = std::make_exception_ptr(std::runtime_error("made"));
  EXPECT_FALSE(find_throw_site(made).has_value());
  EXPECT_FALSE(find_throw_site(caught([&] {
                 std::rethrow_exception(made);
               })).has_value());
}

TEST_F(ThrowSiteTest, IsUnknownForABrokenPromise) {
  std::future<int> future;
  {
    std::promise<int> promise;
    future = promise.get_future();
  }
  EXPECT_FALSE(find_throw_site(caught([&] { future.get(); })).has_value());
}

TEST_F(ThrowSiteTest, IsUnknownForANullPointer) {
  EXPECT_FALSE(find_throw_site(nullptr).has_value());
}

TEST_F(ThrowSiteTest, IsTakenForTypesThatAreNotStandard) {
  for (const auto& error :
       {caught([] { throw 42; }), caught([] { throw "text"; })}) {
    EXPECT_TRUE(find_throw_site(error).has_value());
  }
}

TEST_F(ThrowSiteTest, TellsTheTimeOfTheThrow) {
  const auto first = find_throw_site(caught(sample::throw_runtime_error));
  const auto second = find_throw_site(caught(sample::throw_runtime_error));
  EXPECT_GT(first->steady_nanos, 0);
  EXPECT_LE(first->steady_nanos, second->steady_nanos);
}

TEST_F(ThrowSiteTest, KnowsTheThreadOfAForkedChildByItsNewId) {
  caught(sample::throw_runtime_error);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto site = find_throw_site(caught(sample::throw_runtime_error));
    _exit(site.has_value() && site->thread_id == gettid() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ThrowCaptureScope, WithoutOneNothingIsCaptured) {
  ASSERT_FALSE(throw_capture_enabled());
  EXPECT_FALSE(
      find_throw_site(caught(sample::throw_runtime_error)).has_value());
}

TEST(ThrowCaptureScope, CapturesUntilTheLastOneEnds) {
  {
    const ThrowCaptureScope outer;
    { const ThrowCaptureScope inner; }
    EXPECT_TRUE(throw_capture_enabled());
  }
  EXPECT_FALSE(throw_capture_enabled());
}

TEST(ThrowCaptureScope, CoversAllThreads) {
  const ThrowCaptureScope scope;
  std::exception_ptr error;
  std::thread([&] { error = caught(sample::throw_runtime_error); }).join();
  EXPECT_TRUE(find_throw_site(error).has_value());
}

}  // namespace
}  // namespace mishap::collector
