#pragma once

#include <mishap/faultinject/point.h>
#include <mishap/faultinject/scenario.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mishap::faultinject::sweep {

/// Whether only the hit fails, or it and all later ones of its point.
enum class Mode : std::uint8_t { kTransient, kPersistent };

std::string_view to_string(Mode mode);

/// One hit of a run.
struct Hit {
  PointId point;
  /// Among the hits of this point, from 1.
  std::uint64_t index = 0;
  friend auto operator<=>(const Hit&, const Hit&) = default;
};

/// The second fault of a pair: transient, with the action of the first.
struct SecondFault {
  Hit hit;
  /// The run may legitimately succeed although this fault strikes.
  bool may_recover = false;
  /// The first fault alone comes out at the caller: the error of the run is
  /// that of the first. Else it is that of the second.
  bool first_is_heard = true;
};

/// One fault at one hit; of a pair, another one at a hit that follows.
struct Case {
  /// The same in every sweep of the same program.
  std::string id;
  std::string entry_point;
  PointId point;
  /// Among the hits of this point, from 1.
  std::uint64_t hit = 0;
  /// As in a plan: `throw(runtime)`.
  std::string action;
  Mode mode = Mode::kTransient;
  /// The run may legitimately succeed although this fault strikes.
  bool may_recover = false;
  std::optional<SecondFault> second;
  /// The plan that makes it happen, to be armed.
  std::string spec;

  /// The run may succeed although all faults of the case strike.
  bool may_succeed() const {
    return may_recover && (!second || second->may_recover);
  }
};

/// A case with its id and spec filled in.
Case make_case(std::string_view entry_point, PointId point, std::uint64_t hit,
               std::string_view action, Mode mode);

/// A single case with a second fault; a transient first one when both are hits
/// of the same point.
Case pair_of(Case first, const SecondFault& second);

/// The plan item for a fault at hit `hit` (from 1) of `point`.
std::string case_spec(std::string_view point, std::uint64_t hit,
                      std::string_view action, Mode mode);

/// Whether every fault of the case has struck. `armed` is the case's spec.
bool has_fired(const Case& failing, const Scenario& armed);

}  // namespace mishap::faultinject::sweep
