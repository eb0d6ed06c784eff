#pragma once

#include <mishap/trainer/harness/program/case_judge.h>
#include <mishap/trainer/harness/program/plan_cases.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mishap::program {

/// Told of each case; `stack` as in PlannedCase.
using TellResult =
    std::function<void(const PlannedCase& planned, CaseResult result)>;

/// Whether this job is the one to try the case; asked before each.
using ClaimCase = std::function<bool(const PlannedCase& planned)>;

/// What came of a run that was forked at its hits.
struct ForkedRun {
  /// The cases that have to be run again instead.
  std::vector<PlannedCase> left;
  /// Why, for a person; empty when there are none.
  std::string reason;
};

/// Runs the program once and forks it at each planned hit; the child fails
/// there and is judged. Cases that are not claimed are passed by and stand in
/// `left`. The files are as before when it returns. Throws
/// Stopped, KeeperLost.
ForkedRun run_forked(Workbench& bench, const CleanRun& clean, CaseJudge& judge,
                     const std::vector<PlannedCase>& cases,
                     const ClaimCase& claim, const TellResult& tell);

/// Runs the program anew for one case, from the same files; they are as before
/// when it returns. Throws Stopped, KeeperLost.
CaseResult run_single(Workbench& bench, const CleanRun& clean, CaseJudge& judge,
                      const PlannedCase& planned);

/// Puts the files back as they were before everything; says what could not be.
std::vector<std::string> put_files_back(Workbench& bench, const CleanRun& clean,
                                        KeptState& state);

}  // namespace mishap::program
