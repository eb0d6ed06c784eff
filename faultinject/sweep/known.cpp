#include <mishap/faultinject/sweep/known.h>
#include <mishap/faultinject/sweep/options.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace mishap::faultinject::sweep {

KnownFindings::KnownFindings(const std::filesystem::path& cases) {
  std::error_code error;
  std::ifstream file(cases);
  if (!file || std::filesystem::is_directory(cases, error)) {
    throw SweepError("the baseline " + cases.string() +
                     " can't be read; name the cases.jsonl of a sweep");
  }
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    try {
      const auto row = nlohmann::json::parse(line);
      const auto word = row.at("outcome").get<std::string>();
      const auto outcome = outcome_from(word);
      if (!outcome) {
        throw SweepError("line " + std::to_string(number) +
                         " of the baseline " + cases.string() +
                         ": there is no outcome '" + word + "'");
      }
      if (is_good(*outcome)) continue;
      Finding finding{*outcome, {}};
      for (const auto& clause : row.at("violated")) {
        finding.violated.insert(clause.get<std::string>());
      }
      findings_[row.at("id").get<std::string>()] = std::move(finding);
    } catch (const nlohmann::json::exception&) {
      throw SweepError("line " + std::to_string(number) + " of the baseline " +
                       cases.string() +
                       " is no line of a cases.jsonl; take the file of a "
                       "finished sweep");
    }
  }
}

bool KnownFindings::covers(const Case& failing, const Verdict& verdict) const {
  const auto found = findings_.find(failing.id);
  return found != findings_.end() && found->second.outcome == verdict.outcome &&
         std::all_of(verdict.violated.begin(), verdict.violated.end(),
                     [&](const std::string& clause) {
                       return found->second.violated.contains(clause);
                     });
}

bool is_good(Outcome outcome) {
  return outcome == Outcome::kHeld || outcome == Outcome::kRecovered;
}

}  // namespace mishap::faultinject::sweep
