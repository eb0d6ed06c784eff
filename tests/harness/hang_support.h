#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/collector/resolve/symbolize.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "child_program.h"

namespace sample {

// Where programs hang; the name has to be on record.
[[gnu::noinline]] inline void hangs_here() {
  while (true) {
    std::this_thread::sleep_for(std::chrono::hours(1));
    asm volatile("" ::: "memory");
  }
}

}  // namespace sample

namespace mishap::testing {

inline constexpr std::chrono::milliseconds kAfter{200};

inline HarnessOptions hanging_after(std::chrono::milliseconds after = kAfter) {
  HarnessOptions options;
  options.hang.after = after;
  return options;
}

inline HarnessOptions with_grace(std::chrono::milliseconds grace) {
  HarnessOptions options;
  options.hang.grace_period = grace;
  return options;
}

inline void hang_in_training(mishap::Run& run,
                             const std::function<void()>& body) {
  run.set_stage(Stage::kTrain);
  run.set_step(3);
  run.call(Hook::kTrainingStep, Component::named("module"), body);
}

inline int run_guarded(const std::function<void()>& work) {
  return guarded_main(0, nullptr, work);
}

// The functions of a stack. The child was this very program, forked.
inline std::vector<std::string> functions_of(const nlohmann::json& thread) {
  collector::RawTrace trace;
  trace.exact_first = true;
  for (const nlohmann::json& frame : thread["stack"]["frames"]) {
    trace.addresses[trace.size++] =
        std::stoull(frame["address"].get<std::string>(), nullptr, 16);
  }
  std::vector<std::string> names;
  for (const collector::Frame& frame : collector::symbolize(trace).frames) {
    names.emplace_back(frame.function);
  }
  return names;
}

}  // namespace mishap::testing
