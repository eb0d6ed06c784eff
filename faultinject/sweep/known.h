#pragma once

#include <mishap/faultinject/sweep/case.h>
#include <mishap/faultinject/sweep/verdict.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace mishap::faultinject::sweep {

/// What an earlier sweep found wrong, read from its cases.jsonl.
class KnownFindings {
 public:
  KnownFindings() = default;
  /// @throws SweepError naming the line that can't be read.
  explicit KnownFindings(const std::filesystem::path& cases);

  /// Whether this is no worse than before: the same case, the same outcome, no
  /// clause broken that held then.
  bool covers(const Case& failing, const Verdict& verdict) const;

  std::size_t size() const { return findings_.size(); }

 private:
  struct Finding {
    Outcome outcome = Outcome::kHeld;
    std::set<std::string> violated;
  };
  std::map<std::string, Finding> findings_;
};

/// Whether a verdict speaks against the program.
bool is_good(Outcome outcome);

}  // namespace mishap::faultinject::sweep
