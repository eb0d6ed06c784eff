#pragma once

#include <mishap/faultinject/sweep/options.h>
#include <mishap/trainer/harness/cli/command_line.h>

#include <string>
#include <vector>

namespace mishap::cli {

/// What happens at a hit, as it was typed.
struct ActionWords {
  std::string actions =
      "throw(runtime), throw(c10), throw(int), interrupt(SIGINT)";
  std::string mode = "transient";
  friend bool operator==(const ActionWords&, const ActionWords&) = default;
};

/// The options of `sweep` as they were typed.
struct SweepWords {
  std::vector<std::string> entry_points;
  std::vector<std::string> points;
  ActionWords at_a_hit;
  bool pairs = false;
  /// The id of a case, in place of all above.
  std::string only;
  std::vector<std::string> recovers;
  std::string baseline;
  std::string shard;
  std::string budget;
  std::string out = "mishap-sweep";
  bool json = false;
};

/// `--actions` and `--mode`.
void add_action_options(CommandLine& line, ActionWords& words);
void add_sweep_options(CommandLine& line, SweepWords& words);

/// Actions and modes, all else left as it is by default. Throws InputError or
/// PlanError, naming the option.
faultinject::sweep::Options action_options(const ActionWords& words);

/// Throws InputError, PlanError or SweepError, each naming the option.
faultinject::sweep::Options sweep_options(const SweepWords& words,
                                          std::uint64_t seed);

}  // namespace mishap::cli
