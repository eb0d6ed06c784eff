#pragma once

#include <mishap/trainer/harness/program/clean_run.h>
#include <mishap/trainer/harness/program/plan_cases.h>
#include <mishap/trainer/harness/program/run_cases.h>

#include <cstddef>
#include <string>
#include <vector>

namespace mishap::program {

/// What came of a plan that several jobs tried.
struct JobsEnd {
  /// How many cases were run again instead of forked, and why the first was.
  std::size_t again = 0;
  std::string reason;
  bool left_states_out = false;
  /// A sentence for each job that died and each case that has no verdict.
  std::vector<std::string> lost;
};

/// Throws InputError where jobs can't have files of their own.
void check_jobs(const ProgramOptions& options);

/// Tries the plan's cases in `options.jobs` processes, each with copies of the
/// files in the places of the originals, and tells of them in the plan's order.
/// To be called while this process has one thread. No job is left when it
/// returns or throws. Throws InputError, Stopped, KeeperLost.
JobsEnd run_jobs(Workbench& bench, const CleanRun& clean, const CasePlan& plan,
                 const TellResult& tell);

}  // namespace mishap::program
