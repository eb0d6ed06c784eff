#pragma once

#include <mishap/faultinject/point.h>
#include <mishap/faultinject/sweep/options.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mishap::cli {

/// What a clean run of an entry point hits, and what a sweep makes of it.
struct PointsOfEntry {
  struct Row {
    faultinject::PointId point;
    std::uint64_t hits = 0;
    /// A run may succeed although a fault strikes there.
    bool may_recover = false;
  };

  std::string entry_point;
  std::uint64_t hits = 0;
  /// Of a sweep: hits × actions × modes.
  std::uint64_t cases = 0;
  /// In the order of their first hit.
  std::vector<Row> points;
};

/// Counts a baseline's hits. Throws PlanError when a point can't take one of
/// the actions, as a sweep does.
PointsOfEntry count_points(const std::string& entry_point,
                           const std::vector<faultinject::PointId>& sequence,
                           const faultinject::sweep::Options& options);

/// For a person: a line with the counts, then a line a point.
std::string points_text(const PointsOfEntry& entry,
                        const faultinject::sweep::Options& options);

/// For a machine: actions, modes, and each entry point with its points.
std::string points_json(std::span<const PointsOfEntry> entries,
                        const faultinject::sweep::Options& options);

}  // namespace mishap::cli
