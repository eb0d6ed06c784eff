#pragma once

#include <mishap/faultinject/point.h>
#include <mishap/faultinject/sweep/case.h>
#include <mishap/faultinject/sweep/subject.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject::sweep {

/// What an entry point hits when nothing fails.
struct Baseline {
  std::string entry_point;
  std::vector<PointId> sequence;
  /// Empty when two runs hit the same; else one sentence: the first difference
  /// and its likely cause.
  std::string difference;

  bool is_deterministic() const { return difference.empty(); }
};

/// Runs the entry point twice and compares; a third time to tell a first run
/// that is unlike all others from a run that always differs.
Baseline take_baseline(Subject& subject, std::string_view entry_point);

/// The first difference between two sequences in words; empty if there is none.
std::string first_difference(const std::vector<PointId>& first,
                             const std::vector<PointId>& second);

/// The position of a hit in a sequence; the sequence's size if it is not there.
std::size_t position_of(const std::vector<PointId>& sequence, const Hit& hit);

/// Whether both are at least `size` long and begin with the same `size` points.
bool same_until(const std::vector<PointId>& first,
                const std::vector<PointId>& second, std::size_t size);

}  // namespace mishap::faultinject::sweep
