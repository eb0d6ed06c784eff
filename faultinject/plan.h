#pragma once

#include <mishap/faultinject/action.h>
#include <mishap/faultinject/pattern.h>
#include <mishap/faultinject/plan_error.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject {

enum class FilterKey : std::uint8_t {
  kEntry,
  kStage,
  kEpoch,
  kBatch,
  kStep,
  kRank,
  kThread,
  kEvery,
};

/// A condition on the hit, such as `[stage train]` or `[epoch 2..5]`.
struct Filter {
  FilterKey key = FilterKey::kEntry;
  /// Of entry, stage and thread.
  std::string text;
  /// Of epoch, batch, step and rank, both ends included; `every` uses `first`.
  std::int64_t first = 0;
  std::int64_t last = 0;
  friend bool operator==(const Filter&, const Filter&) = default;
};

/// One link of a rule: `[50%] [3*] action[(arguments)] [filters]`.
struct Term {
  /// 0 to 100; none = always.
  std::optional<double> percent;
  /// How often the term may run; none = without end, 0 = never.
  std::optional<std::uint64_t> count;
  ActionKind action = ActionKind::kOff;
  std::vector<std::string> arguments;
  std::vector<Filter> filters;
  PlanPlace place;
  friend bool operator==(const Term&, const Term&) = default;
};

/// What happens at the points that match one name.
struct Rule {
  NamePattern name;
  std::vector<Term> terms;
  PlanPlace place;
  friend bool operator==(const Rule&, const Rule&) = default;
};

/// A rule that matches no point of the program, and what to do about it.
struct Problem {
  std::size_t rule = 0;
  std::string name;
  /// One sentence with place and advice.
  std::string message;
};

/// A fault plan: a value that says which fault strikes where and when. It does
/// nothing until it is armed (scenario.h).
///
///     seed=7; hook/training_step/module = 2*off -> 1*throw(runtime, "boom")
struct Plan {
  /// None = 0, unless MISHAP_SEED gives one.
  std::optional<std::uint64_t> seed;
  std::vector<Rule> rules;
  /// Where the text came from, for messages.
  std::string source;

  /// Reads a plan; the grammar is in README.md. An empty text is an empty plan.
  /// @throws PlanError
  static Plan parse(std::string_view text, std::string_view source = "");

  /// The plan as text: parse(to_string()) is the same plan again.
  std::string to_string() const;

  /// The rules that match none of `known_names` (names of points, `:after`
  /// left out or not). Only families that occur in `known_names` are judged;
  /// a rule whose family is a glob may match a declared point instead.
  std::vector<Problem> unmatched(
      std::span<const std::string> known_names) const;

  friend bool operator==(const Plan& a, const Plan& b) {
    return a.seed == b.seed && a.rules == b.rules;
  }
};

/// Reads the text of one action, such as `throw(runtime, "boom")`, without
/// modifiers and filters.
/// @throws PlanError
Term parse_action(std::string_view text);

/// The text of a term; the text of its action and arguments alone.
std::string to_string(const Term& term);
std::string action_text(const Term& term);

}  // namespace mishap::faultinject
