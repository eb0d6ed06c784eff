#pragma once

#include <mishap/faultinject/sweep/driver.h>
#include <mishap/trainer/harness/cli/table.h>
#include <mishap/trainer/harness/cli/terminal.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mishap::cli {

/// What a person is told about a sweep: progress while it runs, then a table
/// entry point × outcome, the clauses, and the cases that went wrong.
class SweepReport {
 public:
  /// Gives the command that judges a case again.
  using Repeat = std::function<std::string(const faultinject::sweep::Case&)>;

  explicit SweepReport(Repeat repeat) : repeat_(std::move(repeat)) {}

  /// To be called after every run that looks for pairs.
  void note_scouting(std::uint64_t done, std::uint64_t planned);

  /// To be called after every case.
  void note(const faultinject::sweep::Progress& progress);

  /// Prints it all on stdout, or with `json` summary.json's text. In a job of
  /// GitHub Actions also annotates what went wrong and adds to the job's page.
  void print(const faultinject::sweep::Summary& summary,
             const faultinject::sweep::Options& options, bool json);

 private:
  struct Bad {
    std::string what;
    std::string repeat;
  };

  Repeat repeat_;
  ProgressLine line_;
  std::vector<Bad> bad_;
  std::uint64_t bad_total_ = 0;
};

}  // namespace mishap::cli
