#pragma once

#include <mishap/faultinject/sweep/verdict.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace mishap::faultinject::sweep {

/// How many cases ended in which way.
struct Tally {
  std::uint64_t ran = 0;
  std::array<std::uint64_t, kOutcomes> outcomes{};
  /// Bad ones that an earlier sweep has found as well.
  std::uint64_t known = 0;
  std::uint64_t records = 0;

  std::uint64_t operator[](Outcome outcome) const {
    return outcomes[static_cast<std::size_t>(outcome)];
  }
  std::uint64_t fired() const { return ran - (*this)[Outcome::kNotFired]; }
  void add(const Verdict& verdict, bool is_known);
};

struct EntryPointRow {
  std::string name;
  std::uint64_t points = 0;
  std::uint64_t hits = 0;
  /// Hits × actions × modes, computed from the baseline, not from what ran; or
  /// the pairs that were found to follow these.
  std::uint64_t cases = 0;
  Tally tally;
  /// Why the sweep of this entry point proves less than it should: the
  /// baseline's first difference, or a point that was hit more often than in
  /// the baseline. Empty: it is sound.
  std::string difference;
};

struct ClauseRow {
  std::string name;
  std::uint64_t checked = 0;
  std::uint64_t violated = 0;
};

/// The result of a sweep: what summary.json holds.
struct Summary {
  std::uint64_t points = 0;
  std::uint64_t hits = 0;
  std::uint64_t cases = 0;
  Tally tally;
  double seconds = 0;
  /// Every case was run, upon baselines that repeat.
  bool exhaustive = false;
  /// A baseline that does not repeat is a finding. Not of a program, whose
  /// threads may take turns as they like.
  bool must_repeat = true;
  std::vector<EntryPointRow> entry_points;
  std::vector<ClauseRow> clauses;

  double cases_per_second() const;
  /// 0, or 3 when a case is not held, recovered or known, or a baseline that
  /// must repeat does not.
  int exit_status() const;
};

}  // namespace mishap::faultinject::sweep
