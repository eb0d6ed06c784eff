#include <mishap/collector/recover_pending.h>
#include <mishap/collector/sink.h>
#include <mishap/faultinject/fault_point.h>

#include <csignal>
#include <map>
#include <new>
#include <set>
#include <stdexcept>

#include "guard_cases.h"

namespace app {
namespace {

[[gnu::noinline]] void read_row(int row) {
  if (row >= 0) throw std::out_of_range("row " + std::to_string(row));
}

[[gnu::noinline]] void read_deeper(int depth, int row) {
  if (depth == 0) {
    read_row(row);
  } else {
    read_deeper(depth - 1, row);
  }
  // A call in tail position leaves no frame.
  asm volatile("");
}

}  // namespace
}  // namespace app

namespace mishap {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using Labels = GuardCases;

std::vector<std::string> parts_of(const json& record) {
  return record["fingerprint"]["parts"];
}

TEST_F(Labels, StandInEveryRecord) {
  const json record =
      record_of<std::out_of_range>([](mishap::Run&) { app::read_row(3); });
  EXPECT_EQ(record["category"]["name"], "index_out_of_range");
  EXPECT_EQ(record["category"]["evidence"], "type: std::out_of_range");
  EXPECT_EQ(record["fingerprint"]["version"], 1);
  const auto parts = parts_of(record);
  ASSERT_GE(parts.size(), 4U);
  EXPECT_EQ(parts[0], "type: std::out_of_range");
  EXPECT_THAT(parts, ::testing::Contains("frame: read_row"));
}

// One defect is one group, however deep and with whatever value.
TEST_F(Labels, SameDefectIsOneGroup) {
  for (int i = 0; i < 6; ++i) {
    EXPECT_THROW(
        guard(
            "fit", [&](mishap::Run&) { app::read_deeper(2 + i, i); }, options_),
        std::out_of_range);
  }
  std::set<std::string> groups;
  for (const json& record : records()) {
    groups.insert(record["fingerprint"]["hash"]);
  }
  EXPECT_EQ(groups.size(), 1U);
}

// What a sweep does: each point of a loop fails once.
TEST_F(Labels, FaultsAtDifferentPointsAreDifferentGroups) {
  std::map<std::string, std::set<std::string>> groups_of_point;
  std::set<std::string> all;
  for (const std::string point : {"hook/step/loop", "hook/step/loop:after",
                                  "user/first", "user/second"}) {
    for (const std::string hit : {"", "1*off->"}) {
      const auto armed = arm(point + "=" + hit + "1*throw(runtime, \"x\")");
      try {
        guard(
            "fit",
            [](mishap::Run& run) {
              for (int step = 0; step < 3; ++step) {
                run.set_stage(Stage::kTrain);
                run.step(step);
                MISHAP_FAULT_POINT("first");
                run.set_stage(Stage::kValidate);
                MISHAP_FAULT_POINT("second");
              }
            },
            options_);
      } catch (const std::runtime_error&) {
      }
    }
  }
  for (const json& record : records()) {
    if (!record["fault"]["point"].is_string()) continue;
    const std::string hash = record["fingerprint"]["hash"];
    groups_of_point[record["fault"]["point"]].insert(hash);
    all.insert(hash);
    for (const std::string& part : parts_of(record)) {
      EXPECT_THAT(part, ::testing::Not(HasSubstr("throw(")));
    }
  }
  EXPECT_GE(groups_of_point.size(), 3U);
  EXPECT_GE(all.size(), 3U);
  for (const auto& [point, groups] : groups_of_point) {
    EXPECT_EQ(groups.size(), 1U) << point;
  }
}

// A killed process judges nothing: who recovers its record does.
TEST_F(Labels, OfAKilledRunGoByThePlaceItDiedAt) {
  std::set<std::string> groups;
  for (const Hook hook : {Hook::kTrainingStep, Hook::kOptimizerStep}) {
    EXPECT_EXIT(guard(
                    "fit",
                    [&](mishap::Run& run) {
                      run.call(hook, Component::named("module"),
                               [] { std::raise(SIGKILL); });
                    },
                    options_),
                ::testing::KilledBySignal(SIGKILL), "");
    collector::RecordSink sink({.folder = folder_.path()});
    EXPECT_EQ(collector::recover_pending(sink).appended, 1U);
    const json record = records().back();
    EXPECT_EQ(record["category"]["name"], "killed");
    EXPECT_EQ(record["category"]["evidence"], "kind: killed");
    const auto parts = parts_of(record);
    EXPECT_THAT(parts, ::testing::Contains("type: killed"));
    EXPECT_THAT(parts,
                ::testing::Contains("hook: " + std::string(to_string(hook))));
    EXPECT_EQ(record["fingerprint"]["version"], 1);
    groups.insert(record["fingerprint"]["hash"]);
  }
  EXPECT_EQ(groups.size(), 2U);
}

// The truth decides where the type says nothing.
TEST_F(Labels, FaultOfTheAllocatorIsOutOfMemory) {
  const auto armed = arm("user/alloc=1*throw(bad_alloc)");
  const json record = record_of<std::bad_alloc>(
      [](mishap::Run&) { MISHAP_FAULT_POINT("alloc"); });
  EXPECT_EQ(record["category"]["name"], "out_of_memory");
}

}  // namespace
}  // namespace mishap
