#include <gtest/gtest.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/collector/throw_site.h>
#include <omp.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>

namespace sample {
namespace {

[[gnu::noinline]] void fail_in_region(int thread) {
  throw std::out_of_range("thread " + std::to_string(thread));
}

}  // namespace
}  // namespace sample

namespace mishap::collector {
namespace {

// pytorch#13393, #28304: what a parallel region catches on its worker and hands
// to the caller, as at::parallel_for does, still shows where it was thrown.
TEST(ThrowInOpenMp, IsFoundOnTheCallerWithTheWorkersThread) {
  const ThrowCaptureScope scope;
  std::exception_ptr error;
  std::mutex mutex;
  int threads = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      try {
        sample::fail_in_region(1);
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = std::current_exception();
      }
    }
#pragma omp single
    threads = omp_get_num_threads();
  }
  ASSERT_EQ(threads, 2) << "the region was serial";
  const auto site = find_throw_site(error);
  ASSERT_TRUE(site);
  EXPECT_NE(site->thread_id, gettid());
  std::array<Frame, 16> frames;
  const FrameCount count = symbolize(site->trace, frames);
  ASSERT_GT(count.frames, 0U);
  EXPECT_NE(frames[0].function.find("fail_in_region"), std::string_view::npos)
      << frames[0].function;
}

}  // namespace
}  // namespace mishap::collector
