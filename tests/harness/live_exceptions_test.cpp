#include <future>
#include <stdexcept>

#include "guard_cases.h"

namespace app {
namespace {

[[gnu::noinline]] int fail_in_a_task() {
  throw std::domain_error("nobody asks for this one");
}

}  // namespace
}  // namespace app

namespace mishap {
namespace {

using nlohmann::json;

class LiveExceptionsTest : public GuardCases {
 protected:
  json row() const {
    std::ifstream in(folder_.path() + "/runs.jsonl");
    std::string line;
    std::getline(in, line);
    return json::parse(line);
  }
};

// sentry-native#515: an error that was caught, or kept, leaves a trace too.
TEST_F(LiveExceptionsTest, ErrorOfATaskThatNobodyAsksForStandsInTheRunsRow) {
  std::future<int> result;
  EXPECT_THROW(guard(
                   "fit",
                   [&](mishap::Run&) {
                     result =
                         std::async(std::launch::async, app::fail_in_a_task);
                     result.wait();
                     throw std::runtime_error("the run's own");
                   },
                   options_),
               std::runtime_error);
  const json alive = row()["live_exceptions"];
  ASSERT_EQ(alive.size(), 1U);
  EXPECT_EQ(alive[0]["type"], "std::domain_error");
  EXPECT_THAT(std::string(alive[0]["function"]),
              ::testing::HasSubstr("fail_in_a_task"));
  EXPECT_GE(alive[0]["age_micros"], 0);
  EXPECT_TRUE(alive[0]["offset"].is_string());
}

TEST_F(LiveExceptionsTest, WhatTheRecordTellsIsNotListedAgain) {
  EXPECT_THROW(guard(
                   "fit",
                   [](mishap::Run& run) {
                     run.on_teardown("model", [] { throw 43; });
                     try {
                       throw std::logic_error("handled");
                     } catch (const std::logic_error&) {
                     }
                     try {
                       throw std::out_of_range("the cause");
                     } catch (const std::exception&) {
                       std::throw_with_nested(std::runtime_error("outer"));
                     }
                   },
                   options_),
               std::runtime_error);
  EXPECT_TRUE(row()["live_exceptions"].empty());
}

// Thrown before the run began, it is not the run's.
TEST_F(LiveExceptionsTest, WhatIsOlderThanTheRunIsNotListed) {
  std::exception_ptr kept;
  options_.capture.rows_of_clean_runs = true;
  guard(
      "fit",
      [&](mishap::Run&) {
        try {
          throw std::runtime_error("kept");
        } catch (...) {
          kept = std::current_exception();
        }
        EXPECT_THROW(guard(
                         "validate", [](mishap::Run&) { throw 1; }, options_),
                     int);
      },
      options_);
  std::ifstream in(folder_.path() + "/runs.jsonl");
  std::vector<json> rows;
  for (std::string line; std::getline(in, line);) {
    rows.push_back(json::parse(line));
  }
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0]["live_exceptions"].empty());
  ASSERT_EQ(rows[1]["live_exceptions"].size(), 1U);
  EXPECT_EQ(rows[1]["live_exceptions"][0]["type"], "std::runtime_error");
}

}  // namespace
}  // namespace mishap
