#pragma once

#include <mishap/faultinject/point.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace mishap::faultinject::sweep {

/// Whether only the hit fails, or it and all later ones of its point.
enum class Mode : std::uint8_t { kTransient, kPersistent };

std::string_view to_string(Mode mode);

/// One fault at one hit.
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
  /// The plan that makes it happen, to be armed.
  std::string spec;
};

/// A case with its id and spec filled in.
Case make_case(std::string_view entry_point, PointId point, std::uint64_t hit,
               std::string_view action, Mode mode);

/// The plan item for a fault at hit `hit` (from 1) of `point`.
std::string case_spec(std::string_view point, std::uint64_t hit,
                      std::string_view action, Mode mode);

}  // namespace mishap::faultinject::sweep
