#include <gtest/gtest.h>
#include <mishap/faultinject/hit.h>
#include <pthread.h>

#include <thread>

#include "support.h"

namespace mishap::faultinject {
namespace {

constexpr char kFilterPoint[] = "hook/filter/module";

HitContext context() {
  HitContext context;
  context.entry_point = "fit";
  context.stage = "train";
  context.thread = "main";
  context.epoch = 2;
  context.batch = 3;
  context.step = 17;
  context.rank = 1;
  return context;
}

struct Filtered {
  const char* filters;
  bool fires;
};

void PrintTo(const Filtered& filtered, std::ostream* out) {
  *out << filtered.filters;
}

class FilterTest : public ::testing::TestWithParam<Filtered> {};

TEST_P(FilterTest, AllFiltersHaveToMatch) {
  const auto scenario =
      arm_text(std::string(kFilterPoint) + "=throw(int)" + GetParam().filters);
  EXPECT_EQ(hits(kFilterPoint, 1, context()), GetParam().fires ? "X" : ".");
}

INSTANTIATE_TEST_SUITE_P(
    Filters, FilterTest,
    ::testing::Values(
        Filtered{"[entry fit]", true}, Filtered{"[entry test]", false},
        Filtered{"[stage train]", true}, Filtered{"[stage validate]", false},
        Filtered{"[epoch 2]", true}, Filtered{"[epoch 0..1]", false},
        Filtered{"[epoch 2..5]", true}, Filtered{"[epoch 1..2]", true},
        Filtered{"[batch 3]", true}, Filtered{"[batch 4]", false},
        Filtered{"[step 17]", true}, Filtered{"[step 18]", false},
        Filtered{"[rank 1]", true}, Filtered{"[rank 0]", false},
        Filtered{"[thread main]", true}, Filtered{"[thread loader]", false},
        Filtered{"[every 1]", true}, Filtered{"[every 2]", false},
        Filtered{"[entry fit][stage train][epoch 2][batch 3]", true},
        Filtered{"[entry fit][stage train][epoch 3][batch 3]", false}));

TEST(FilterMismatchTest, WhatIsUnknownMatchesNothing) {
  const auto scenario = arm_text("hook/filter/module=throw(int)[rank 0..9]");
  EXPECT_EQ(hits(kFilterPoint, 1), ".");
}

TEST(FilterMismatchTest, UsesUpNoCount) {
  const auto scenario =
      arm_text("hook/filter/module=1*off[epoch 2]->1*throw(int)[epoch 2]");
  EXPECT_EQ(hits(kFilterPoint, 5), ".....");
  EXPECT_EQ(hits(kFilterPoint, 3, context()), ".X.");
}

TEST(FilterMismatchTest, UsesUpNoCoin) {
  const std::string plan = "seed=5;hook/filter/module=50%throw(int)[epoch 2]";
  std::string expected;
  {
    const auto scenario = arm_text(plan);
    expected = hits(kFilterPoint, 40, context());
  }
  const auto scenario = arm_text(plan);
  std::string course;
  for (int i = 0; i < 40; ++i) {
    hits(kFilterPoint, i % 3);
    course += hits(kFilterPoint, 1, context());
  }
  EXPECT_EQ(course, expected);
}

TEST(FilterMismatchTest, EveryCountsOnlyWhatTheOthersLetPass) {
  const auto scenario =
      arm_text("hook/filter/module=throw(int)[every 2][epoch 2]");
  EXPECT_EQ(hits(kFilterPoint, 1), ".");
  EXPECT_EQ(hits(kFilterPoint, 1, context()), ".");
  EXPECT_EQ(hits(kFilterPoint, 1), ".");
  EXPECT_EQ(hits(kFilterPoint, 1, context()), "X");
}

TEST(ThreadNameTest, IsTheKernelsWhenTheContextHasNone) {
  const auto scenario =
      arm_text("hook/filter/module=throw(int)[thread loader]");
  EXPECT_EQ(hits(kFilterPoint, 1), ".");
  std::string course;
  std::thread([&] {
    ::pthread_setname_np(::pthread_self(), "loader");
    course = hits(kFilterPoint, 1);
  }).join();
  EXPECT_EQ(course, "X");
}

TEST(ThreadNameTest, TheFirstThreadIsMain) {
  const auto scenario = arm_text("hook/filter/module=throw(int)[thread main]");
  EXPECT_EQ(hits(kFilterPoint, 1), "X");
  std::string course;
  std::thread([&] { course = hits(kFilterPoint, 1); }).join();
  EXPECT_EQ(course, ".");
}

}  // namespace
}  // namespace mishap::faultinject
