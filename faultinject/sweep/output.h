#pragma once

#include <mishap/faultinject/sweep/case.h>
#include <mishap/faultinject/sweep/options.h>
#include <mishap/faultinject/sweep/summary.h>
#include <mishap/faultinject/sweep/verdict.h>

#include <filesystem>
#include <string>

namespace mishap::faultinject::sweep {

/// The folder of a sweep: cases.jsonl as it grows, summary.json at the end.
class Output {
 public:
  /// @param folder made if need be; empty: nothing is written.
  /// @throws SweepError
  explicit Output(std::filesystem::path folder);

  void write(const Case& failing, const Verdict& verdict, bool is_known);

  /// @throws SweepError when anything could not be written.
  void finish(const Summary& summary, const Options& options);

 private:
  std::filesystem::path cases_path() const { return folder_ / "cases.jsonl"; }

  std::filesystem::path folder_;
  bool has_failed_ = false;
};

/// summary.json as text.
std::string summary_json(const Summary& summary, const Options& options);

}  // namespace mishap::faultinject::sweep
