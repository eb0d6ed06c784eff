#pragma once

#include <mishap/faultinject/sweep/case.h>
#include <mishap/faultinject/sweep/verdict.h>

#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject::sweep {

/// What a run does with its fault in force.
struct Scouted {
  /// The points it hit, from its beginning to its end, in order.
  std::vector<PointId> sequence;
  /// The fault came out: the call did not end as a success.
  bool is_heard = false;
};

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

  /// Makes a fresh world, arms the case's spec, runs, disarms, and tells the
  /// course of the run. It is no case: nothing is judged, and no record is left
  /// where that can be had. Only sweeps of pairs ask for it.
  virtual Scouted scout(const Case& first) = 0;

  /// Makes a fresh world, arms the case's spec, runs, disarms, judges by every
  /// clause that applies.
  ///
  /// A fault that never fired (has_fired()) is kNotFired, whatever else the run
  /// did. A run that ended as a success although its faults fired is
  /// kSwallowed; that it does is no broken clause if `failing.may_succeed()`.
  virtual Verdict run(const Case& failing) = 0;
};

}  // namespace mishap::faultinject::sweep
