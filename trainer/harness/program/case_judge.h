#pragma once

#include <mishap/faultinject/sweep/case.h>
#include <mishap/faultinject/sweep/verdict.h>
#include <mishap/trainer/harness/program/clean_run.h>
#include <mishap/trainer/harness/program/judge.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace mishap::program {

/// A case that was tried.
struct CaseResult {
  faultinject::sweep::Case failing;
  faultinject::sweep::Verdict verdict;
  FaultStory story;
  RunEnd end;
  /// It was a child forked at the hit, not a fresh run.
  bool was_forked = false;
};

/// Judges from outside, while what the case left is still there.
class CaseJudge {
 public:
  CaseJudge(Workbench& bench, const CleanRun& clean)
      : bench_(bench), clean_(clean) {}

  /// Ends what is left over, but for the program that stands at the case. The
  /// files are then as the case, the check and a clean run left them.
  CaseResult judge(const faultinject::sweep::Case& failing, RunEnd end);

  /// Clean runs afterwards were not tried for more states of the files.
  static constexpr std::size_t kMaxStates = 400;
  bool has_left_states_out() const { return has_left_states_out_; }

 private:
  bool is_fault_of_a_save(const faultinject::sweep::Case& failing,
                          const FaultStory& story) const;

  struct After {
    std::string rerun;
    std::string check;
  };
  const After* after(std::uint64_t state);

  Workbench& bench_;
  const CleanRun& clean_;
  std::map<std::uint64_t, After> after_;
  bool has_left_states_out_ = false;
};

/// How long a case may take.
std::chrono::milliseconds limit_of(const ProgramOptions& options,
                                   const CleanRun& clean);

}  // namespace mishap::program
