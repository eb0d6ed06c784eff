#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/trainer/harness/guard.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../temp_folder.h"

// Whether a test may take the memory of its process: a sanitizer needs its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MISHAP_CASES_OWN_MEMORY 0
#else
#define MISHAP_CASES_OWN_MEMORY 1
#endif

namespace mishap {

// What a failed loop of its own leaves, read from its records.
class GuardCases : public ::testing::Test {
 protected:
  GuardCases() {
    // A shell that starts the tests in the background has SIGINT ignored.
    sigaction(SIGINT, nullptr, &interrupt_before_);
    sigaction(SIGTERM, nullptr, &terminate_before_);
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    options_.capture.records = folder_.path();
    options_.capture.report_on_stderr = false;
  }

  ~GuardCases() override {
    sigaction(SIGINT, &interrupt_before_, nullptr);
    sigaction(SIGTERM, &terminate_before_, nullptr);
  }

  std::vector<nlohmann::json> records() const {
    std::vector<nlohmann::json> all;
    std::ifstream in(std::filesystem::path(folder_.path()) / "records.jsonl");
    for (std::string line; std::getline(in, line);) {
      all.push_back(nlohmann::json::parse(line));
    }
    return all;
  }

  // The one record that a loop left which had to fail with an Error.
  template <class Error>
  nlohmann::json record_of(const std::function<void(mishap::Run&)>& loop) {
    EXPECT_THROW(guard("fit", loop, options_), Error);
    const std::vector<nlohmann::json> all = records();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? nlohmann::json() : all.front();
  }

  std::string file() const { return folder_.path() + "/model.pt"; }
  std::string content() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static faultinject::Scenario arm(const std::string& plan) {
    return faultinject::arm(faultinject::Plan::parse(plan),
                            faultinject::Scope::process());
  }

  mishap::testing::TempFolder folder_;
  HarnessOptions options_;

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

}  // namespace mishap
