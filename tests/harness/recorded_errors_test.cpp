#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/harness/guard.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "../temp_folder.h"

namespace mishap {
namespace {

using nlohmann::json;

class RecordedErrors : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.capture.records = folder_;
    options_.capture.report_on_stderr = false;
  }

  std::vector<json> records() const {
    std::vector<json> records;
    std::ifstream in(std::filesystem::path(folder_) / "records.jsonl");
    for (std::string line; std::getline(in, line);) {
      records.push_back(json::parse(line));
    }
    return records;
  }

  mishap::testing::TempFolder temporary_;
  std::string folder_ = temporary_.path();
  HarnessOptions options_;
};

TEST_F(RecordedErrors,
       OfEarlierRunsAreNoInnerOnesThoughTheirAddressIsUsedAgain) {
  constexpr int kRuns = 50;
  for (int i = 0; i < kRuns; ++i) {
    EXPECT_THROW(guard(
                     "fit", [](mishap::Run&) { throw std::runtime_error("x"); },
                     options_),
                 std::runtime_error);
  }
  const std::vector<json> found = records();
  ASSERT_EQ(found.size(), kRuns);
  for (const json& record : found) {
    EXPECT_TRUE(record["inner_record_id"].is_null());
  }
}

TEST_F(RecordedErrors, OfANestedRunAreNamedByTheOuterOne) {
  EXPECT_THROW(guard(
                   "fit",
                   [&](mishap::Run&) {
                     guard(
                         "validate",
                         [](mishap::Run&) { throw std::runtime_error("x"); },
                         options_);
                   },
                   options_),
               std::runtime_error);
  const std::vector<json> found = records();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1]["inner_record_id"], found[0]["record_id"]);
}

// Under guarded_main, which keeps its own records.
int records_of(const std::function<void()>& work) {
  static int calls = 0;
  const std::string folder = (std::filesystem::temp_directory_path() /
                              ("mishap-main-" + std::to_string(getpid()) + '-' +
                               std::to_string(calls++)));
  setenv("MISHAP_RECORDS", folder.c_str(), 1);
  ::testing::internal::CaptureStderr();
  guarded_main(0, nullptr, work);
  ::testing::internal::GetCapturedStderr();
  unsetenv("MISHAP_RECORDS");
  int lines = 0;
  std::ifstream in(std::filesystem::path(folder) / "records.jsonl");
  for (std::string line; std::getline(in, line);) {
    ++lines;
  }
  std::filesystem::remove_all(folder);
  return lines;
}

TEST(RecordedErrorsOfAProgram, AreOneThoughTheRunWasOnAnotherThread) {
  EXPECT_EQ(records_of([] {
              std::async(std::launch::async, [] {
                guard("fit",
                      [](mishap::Run&) { throw std::runtime_error("x"); });
              }).get();
            }),
            1);
}

TEST(RecordedErrorsOfAProgram,
     AreTwoThoughTheSecondOneHasTheAddressOfTheFirst) {
  EXPECT_EQ(records_of([] {
              try {
                guard("fit",
                      [](mishap::Run&) { throw std::runtime_error("x"); });
              } catch (const std::runtime_error&) {
              }
              throw std::runtime_error("y");
            }),
            2);
}

}  // namespace
}  // namespace mishap
