#pragma once

#include <mishap/faultinject/sweep/options.h>
#include <mishap/trainer/harness/cli/command_line.h>

#include <string>
#include <vector>

namespace mishap::cli {

/// The options of `sweep` as they were typed.
struct SweepWords {
  std::vector<std::string> entry_points;
  std::vector<std::string> points;
  std::string actions =
      "throw(runtime), throw(c10), throw(int), interrupt(SIGINT)";
  std::string mode = "transient";
  std::vector<std::string> recovers;
  std::string baseline;
  std::string shard;
  std::string budget;
  std::string out = "mishap-sweep";
  bool json = false;
};

void add_sweep_options(CommandLine& line, SweepWords& words);

/// Throws InputError, PlanError or SweepError, each naming the option.
faultinject::sweep::Options sweep_options(const SweepWords& words,
                                          std::uint64_t seed);

}  // namespace mishap::cli
