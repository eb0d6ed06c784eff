#include <gtest/gtest.h>
#include <mishap/collector/record_caps.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace mishap::collector {
namespace {

std::vector<int> kept_of(RecordCounter& counter, const std::string& key,
                         int times, const RecordCaps& caps) {
  std::vector<int> kept;
  for (int i = 1; i <= times; ++i) {
    if (counter.count(key, caps).is_kept) kept.push_back(i);
  }
  return kept;
}

TEST(I5RecordsWithoutEnd, AfterTheCapOnlyTheDoublesAreKept) {
  const auto counter = std::make_unique<RecordCounter>();
  EXPECT_EQ(kept_of(*counter, "a", 100, {.of_a_key = 5, .in_all = 1'000}),
            (std::vector<int>{1, 2, 3, 4, 5, 10, 20, 40, 80}));
  EXPECT_EQ(counter->left_out(), 91U);
}

TEST(RecordCaps, KeysAreCountedByThemselves) {
  const auto counter = std::make_unique<RecordCounter>();
  const RecordCaps caps{.of_a_key = 2, .in_all = 1'000};
  for (int i = 0; i < 100; ++i) {
    const std::string key = "key " + std::to_string(i);
    EXPECT_EQ(kept_of(*counter, key, 3, caps), (std::vector<int>{1, 2})) << i;
  }
}

TEST(RecordCaps, AllKindsTogetherAreBoundedToo) {
  const auto counter = std::make_unique<RecordCounter>();
  const RecordCaps caps{.of_a_key = 10, .in_all = 50};
  int kept = 0;
  for (int i = 0; i < 10'000; ++i) {
    kept += counter->count(std::to_string(i), caps).is_kept;
  }
  EXPECT_GE(kept, 50);
  EXPECT_LE(kept, 60);
}

TEST(RecordCaps, TheFirstThatIsLeftOutIsSaidAndCounted) {
  const auto counter = std::make_unique<RecordCounter>();
  const RecordCaps caps{.of_a_key = 2, .in_all = 1'000};
  counter->count("a", caps);
  EXPECT_FALSE(counter->count("a", caps).is_first_left_out);
  EXPECT_TRUE(counter->count("a", caps).is_first_left_out);
  const RecordCount fourth = counter->count("a", caps);
  EXPECT_TRUE(fourth.is_kept);
  EXPECT_EQ(fourth.of_the_key, 4U);
  EXPECT_EQ(fourth.left_out, 1U);
}

TEST(RecordCaps, NoneLeavesNothingOut) {
  const auto counter = std::make_unique<RecordCounter>();
  EXPECT_EQ(kept_of(*counter, "a", 20'000, RecordCaps::none()).size(), 20'000U);
}

TEST(RecordCaps, ThreadsCountTogether) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 5'000;
  const auto counter = std::make_unique<RecordCounter>();
  std::atomic<int> kept = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kTimes; ++k) {
        kept +=
            counter->count("a", {.of_a_key = 100, .in_all = 1'000'000}).is_kept;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // 100, then 200, 400, ... 12,800.
  EXPECT_EQ(kept, 100 + 7);
}

}  // namespace
}  // namespace mishap::collector
