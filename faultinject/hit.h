#pragma once

#include <mishap/faultinject/action.h>
#include <mishap/faultinject/active.h>
#include <mishap/faultinject/hit_context.h>
#include <mishap/faultinject/point.h>

#include <cstdint>
#include <string>

namespace mishap::faultinject {

/// What the layer that owns the point has to do itself: leave early with a
/// value, fail a call, damage data. Points that can't do so never get one.
struct Directive {
  /// kOff: nothing.
  ActionKind action = ActionKind::kOff;
  /// The errno, bytes or bit.
  std::int64_t number = 0;
  /// The text of `return(text)`.
  std::string text;

  explicit operator bool() const { return action != ActionKind::kOff; }
};

/// Reports a hit to all traces and armed plans, and runs what they ask for:
/// may throw anything, sleep, raise a signal, end the process. Ask active()
/// first:
///
///     if (active()) hit(point, context);
///
/// Thread-safe; holds no lock while an action runs. Hits from within are not
/// seen: the toolkit never injects into itself.
Directive hit(PointId point, const HitContext& context);

/// As above with this thread's current_context().
Directive hit(PointId point);

}  // namespace mishap::faultinject
