#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject::sweep {

enum class Outcome : std::uint8_t {
  /// The fault fired and everything was as it has to be.
  kHeld,
  /// It fired and the run legitimately succeeded.
  kRecovered,
  /// It fired and nobody heard of it.
  kSwallowed,
  /// At least one clause was broken.
  kViolated,
  /// The run ended before the fault's hit.
  kNotFired,
  /// What came before the fault was not what the baseline did.
  kNondeterministic,
  /// The process died of it.
  kCrashed,
  /// The run did not end.
  kHung,
};

inline constexpr std::size_t kOutcomes = 8;

std::string_view to_string(Outcome outcome);
std::optional<Outcome> outcome_from(std::string_view word);

/// What became of one case.
struct Verdict {
  Outcome outcome = Outcome::kHeld;
  /// The clauses that were broken, and those that were looked at (both with
  /// names such as "C4"; the broken ones are among the latter).
  std::vector<std::string> violated;
  std::vector<std::string> checked;
  /// Empty: the run left no record.
  std::string record_id;
  std::int64_t micros = 0;
  /// For a person: what exactly was wrong.
  std::string note;
};

}  // namespace mishap::faultinject::sweep
