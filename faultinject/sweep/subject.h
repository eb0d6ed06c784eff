#pragma once

#include <mishap/faultinject/sweep/case.h>
#include <mishap/faultinject/sweep/verdict.h>

#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject::sweep {

/// What is swept: something that can be run again and again from the same
/// beginning, and judged.
class Subject {
 public:
  virtual ~Subject() = default;

  /// The entry points, in the order in which they are swept.
  virtual std::vector<std::string> entry_points() = 0;

  /// Runs one entry point with nothing armed and returns the points it hit, in
  /// order (a HitTrace).
  virtual std::vector<PointId> baseline(std::string_view entry_point) = 0;

  /// Makes a fresh world, arms the case's spec, runs, disarms, judges. A fault
  /// that never fired is kNotFired, whatever else the run did.
  virtual Verdict run(const Case& failing) = 0;
};

}  // namespace mishap::faultinject::sweep
