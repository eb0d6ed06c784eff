#include <gtest/gtest.h>
#include <mishap/collector/exception_object.h>
#include <mishap/collector/throw_site.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "throw_helpers.h"

namespace mishap::collector {
namespace {

using sample::caught;

void throw_it() { throw std::runtime_error("sample"); }

// Throws until the allocator hands out `address` again.
std::exception_ptr thrown_again_at(const void* address) {
  std::vector<std::exception_ptr> others;
  for (int i = 0; i < 1000; ++i) {
    const std::exception_ptr error = caught(throw_it);
    if (exception_object(error) == address) {
      return error;
    }
    others.push_back(error);
  }
  return nullptr;
}

TEST(ThrowStore, ForgetsAnObjectWhenItDies) {
  const void* address = nullptr;
  {
    const ThrowCaptureScope scope;
    const std::exception_ptr error = caught(throw_it);
    address = exception_object(error);
    ASSERT_TRUE(find_throw_site(error).has_value());
  }
  const std::exception_ptr later = thrown_again_at(address);
  if (!later) {
    GTEST_SKIP() << "the allocator does not hand the address out again";
  }
  EXPECT_FALSE(find_throw_site(later).has_value());
}

TEST(ThrowStore, GivesNoStaleSiteToAnObjectMadeAtTheSameAddress) {
  const ThrowCaptureScope scope;
  const void* address = exception_object(caught(throw_it));
  std::vector<std::exception_ptr> made;
  do {
    made.push_back(std::make_exception_ptr(std::runtime_error("made")));
    if (made.size() > 1000) {
      GTEST_SKIP() << "the allocator does not hand the address out again";
    }
  } while (exception_object(made.back()) != address);
  EXPECT_FALSE(find_throw_site(made.back()).has_value());
}

struct CountsItsEnd {
  explicit CountsItsEnd(int* ended) : ended_(ended) {}
  CountsItsEnd(const CountsItsEnd&) = default;
  CountsItsEnd& operator=(const CountsItsEnd&) = delete;
  ~CountsItsEnd() { ++*ended_; }

 private:
  int* ended_;
};

TEST(ThrowStore, DestroysTheExceptionExactlyOnce) {
  const ThrowCaptureScope scope;
  int ended = 0;
  std::exception_ptr error = caught([&] { throw CountsItsEnd(&ended); });
  ASSERT_TRUE(find_throw_site(error).has_value());
  const int before = ended;
  error = nullptr;
  EXPECT_EQ(ended, before + 1);
}

TEST(ThrowStore, CountsTheThrowsThatItHadNoRoomFor) {
  const ThrowCaptureScope scope;
  const std::uint64_t before = dropped_throw_sites();
  std::vector<std::exception_ptr> alive;
  std::size_t found = 0;
  for (int i = 0; i < 2000; ++i) {
    alive.push_back(caught(throw_it));
    found += find_throw_site(alive.back()).has_value() ? 1 : 0;
  }
  EXPECT_GE(found, 100U);
  EXPECT_EQ(found + (dropped_throw_sites() - before), alive.size());
  alive.clear();
  EXPECT_TRUE(find_throw_site(caught(throw_it)).has_value());
}

TEST(ThrowStore, IsSharedByThreadsThatThrowAtOnce) {
  const ThrowCaptureScope scope;
  std::array<int, 4> found{};
  std::vector<std::thread> threads;
  for (int& mine : found) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 500; ++i) {
        const std::exception_ptr error = caught(throw_it);
        const auto site = find_throw_site(error);
        mine += site.has_value() && *site->type == typeid(std::runtime_error);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const int mine : found) {
    EXPECT_EQ(mine, 500);
  }
}

void write_marker(std::span<std::byte, ThrowSite::kSampleBytes> out) noexcept {
  std::memcpy(out.data(), "marker", 7);
}

TEST(ThrowSampler, SamplesBeforeTheStackUnwinds) {
  static int value = 0;
  struct Restores {
    ~Restores() { value = 0; }
  };
  const ThrowSampler previous = set_throw_sampler(
      [](std::span<std::byte, ThrowSite::kSampleBytes> out) noexcept {
        std::memcpy(out.data(), &value, sizeof(value));
      });
  const ThrowCaptureScope scope;
  const std::exception_ptr error = caught([] {
    const Restores restores;
    value = 7;
    throw_it();
  });
  set_throw_sampler(previous);
  int sampled = 0;
  const auto site = find_throw_site(error);
  ASSERT_TRUE(site.has_value());
  std::memcpy(&sampled, site->sample.data(), sizeof(sampled));
  EXPECT_EQ(sampled, 7);
  EXPECT_EQ(value, 0);
}

TEST(ThrowSampler, LeavesZerosWhenThereIsNone) {
  const ThrowSampler previous = set_throw_sampler(write_marker);
  const ThrowCaptureScope scope;
  caught(throw_it);
  EXPECT_EQ(set_throw_sampler(nullptr), write_marker);
  const auto site = find_throw_site(caught(throw_it));
  set_throw_sampler(previous);
  ASSERT_TRUE(site.has_value());
  EXPECT_EQ(site->sample, decltype(site->sample){});
}

}  // namespace
}  // namespace mishap::collector
