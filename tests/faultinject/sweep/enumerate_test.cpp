#include <gmock/gmock.h>
#include <mishap/faultinject/sweep/enumerate.h>

#include <set>

#include "../support.h"

namespace mishap::faultinject::sweep {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::uint64_t> chosen(std::uint64_t total,
                                  std::optional<std::uint64_t> budget,
                                  Shard shard = {}, std::uint64_t seed = 0) {
  Options options;
  options.budget = budget;
  options.shard = shard;
  options.seed = seed;
  return chosen_cases(total, options);
}

TEST(EnumerateTest, WithoutABudgetEveryCaseIsChosenInOrder) {
  EXPECT_THAT(chosen(5, std::nullopt), ElementsAre(0u, 1u, 2u, 3u, 4u));
  EXPECT_THAT(chosen(3, 100), ElementsAre(0u, 1u, 2u));
  EXPECT_THAT(chosen(0, std::nullopt), SizeIs(0));
  EXPECT_THAT(chosen(7, 0), SizeIs(0));
}

TEST(EnumerateTest, ABudgetIsSpreadEvenly) {
  for (const std::uint64_t total : {7u, 100u, 1001u, 123457u}) {
    for (const std::uint64_t budget : {1u, 3u, 7u}) {
      const auto cases = chosen(total, budget);
      ASSERT_THAT(cases, SizeIs(budget));
      for (std::uint64_t i = 0; i < budget; ++i) {
        EXPECT_GE(cases[i], i * total / budget);
        EXPECT_LT(cases[i], (i + 1) * total / budget);
      }
    }
  }
}

TEST(EnumerateTest, TheSeedChoosesWithinTheBudget) {
  EXPECT_EQ(chosen(1000, 10, {}, 1), chosen(1000, 10, {}, 1));
  EXPECT_NE(chosen(1000, 10, {}, 1), chosen(1000, 10, {}, 2));
}

TEST(EnumerateTest, ShardsPartitionWhatIsChosen) {
  for (const std::uint32_t count : {1u, 2u, 3u, 7u, 20u}) {
    std::multiset<std::uint64_t> together;
    for (std::uint32_t index = 1; index <= count; ++index) {
      const auto part = chosen(1000, 101, {index, count}, 5);
      EXPECT_LE(part.size(), 101 / count + 1);
      together.insert(part.begin(), part.end());
    }
    const auto whole = chosen(1000, 101, {}, 5);
    EXPECT_TRUE(std::equal(together.begin(), together.end(), whole.begin(),
                           whole.end()));
  }
}

TEST(EnumerateTest, HitsAreNumberedByPoint) {
  const PointId a = intern("hook/enumerate/a");
  const PointId b = intern("hook/enumerate/b");
  Options options;
  options.points = {NamePattern("hook/*/a")};
  const auto hits = chosen_hits({a, b, a, a}, options);
  ASSERT_THAT(hits, SizeIs(3));
  EXPECT_THAT(hits, Each(::testing::Field(&Hit::point, a)));
  EXPECT_EQ(hits[2].index, 3u);
}

TEST(EnumerateTest, ACaseIsAPlanItem) {
  EXPECT_EQ(case_spec("hook/a/b", 1, "throw(int)", Mode::kTransient),
            "hook/a/b=1*throw(int)");
  EXPECT_EQ(case_spec("hook/a/b", 3, "throw(int)", Mode::kTransient),
            "hook/a/b=2*off->1*throw(int)");
  EXPECT_EQ(case_spec("hook/a/b", 3, "throw(int)", Mode::kPersistent),
            "hook/a/b=2*off->throw(int)");
}

TEST(ShardTest, ReadsIndexAndCount) {
  EXPECT_EQ(Shard::parse("2/8").index, 2u);
  EXPECT_EQ(Shard::parse("2/8").count, 8u);
  for (const char* text :
       {"", "2", "0/8", "9/8", "1/0", "a/b", "1/2/3", "-1/2"}) {
    EXPECT_EQ(message_of([&] { Shard::parse(text); }),
              "'" + std::string(text) +
                  "' is no shard; write such as 2/8, from 1/8 to 8/8");
  }
}

}  // namespace
}  // namespace mishap::faultinject::sweep
