#pragma once

#include <mishap/faultinject/sweep/options.h>
#include <mishap/trainer/harness/cli/command_line.h>

#include <string>
#include <string_view>
#include <vector>

namespace mishap::cli {

/// What happens at a hit, as it was typed.
struct ActionWords {
  std::string actions =
      "throw(runtime), throw(c10), throw(int), interrupt(SIGINT)";
  std::string mode = "transient";
  friend bool operator==(const ActionWords&, const ActionWords&) = default;
};

/// How much of a sweep is done, what of it is known and where it goes: of tasks
/// and of programs alike.
struct ExtentWords {
  std::vector<std::string> recovers;
  std::string baseline;
  std::string shard;
  std::string budget;
  std::string out = "mishap-sweep";
  bool json = false;
};

/// The options of `sweep` as they were typed.
struct SweepWords : ExtentWords {
  std::vector<std::string> entry_points;
  std::vector<std::string> points;
  ActionWords at_a_hit;
  bool pairs = false;
  /// The id of a case, in place of all above.
  std::string only;
};

/// Patterns of points. Throws InputError naming the option.
std::vector<faultinject::NamePattern> patterns(
    std::string_view option, const std::vector<std::string>& texts);
/// What `--mode` says. Throws InputError.
std::vector<faultinject::sweep::Mode> modes(const std::string& text);

void add_mode_option(CommandLine& line, std::string& mode);
void add_extent_options(CommandLine& line, ExtentWords& words);
/// Throws InputError or SweepError, naming the option.
void fill_extent(faultinject::sweep::Options& options,
                 const ExtentWords& words);

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
