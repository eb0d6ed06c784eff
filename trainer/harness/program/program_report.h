#pragma once

#include <mishap/faultinject/sweep/summary.h>
#include <mishap/trainer/harness/cli/terminal.h>
#include <mishap/trainer/harness/program/case_judge.h>
#include <mishap/trainer/harness/program/clean_run.h>
#include <mishap/trainer/harness/program/frame_names.h>
#include <mishap/trainer/harness/program/plan_cases.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mishap::program {

/// What a person is told about a sweep of a program: a table layer × outcome,
/// the clauses, the worst findings, each once with all its cases counted.
class ProgramReport {
 public:
  ProgramReport(const ProgramOptions& options, const CleanRun& clean,
                const CasePlan& plan)
      : options_(options), clean_(clean), plan_(plan) {}

  /// While it runs, on a terminal.
  void progress(std::uint64_t done, std::uint64_t bad,
                const std::string& point);
  /// A case with its places looked up.
  void add(const CaseResult& result, const FrameNames& names, bool is_known);
  /// A sentence for a person.
  void remark(const std::string& text) { remarks_.push_back(text); }
  /// Prints it all on stdout, or with `json` summary.json's text. In a job of
  /// GitHub Actions also annotates what went wrong and adds to the job's page.
  void print(const faultinject::sweep::Summary& summary, bool json);

 private:
  struct Finding {
    int rank = 0;
    std::string title;
    std::string what;
    std::string caught;
    std::vector<std::string> stack;
    std::string repeat;
    std::uint64_t cases = 0;
  };

  std::string shown(const Finding& finding) const;

  const ProgramOptions& options_;
  const CleanRun& clean_;
  const CasePlan& plan_;
  cli::ProgressLine line_;
  std::map<std::string, faultinject::sweep::Tally> layers_;
  std::map<std::string, Finding> findings_;
  std::vector<std::string> remarks_;
  std::uint64_t forked_ = 0;
};

}  // namespace mishap::program
