#pragma once

#include <mishap/faultinject/capability.h>
#include <mishap/faultinject/point.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::faultinject {

/// Says why a point can't return `text`; empty when it can.
using ReturnCheck = std::string (*)(std::string_view text);

/// One point that the program is known to have.
struct PointInfo {
  PointId point;
  std::string_view name;
  Capability capabilities = Capability::kControl;
  ReturnCheck check_return = nullptr;
};

/// Puts a point into the catalogue, at any time before it is hit; declaring it
/// again narrows it to what all its places can do. Thread-safe.
/// @throws std::invalid_argument for a name that is no point's name.
PointId declare_point(std::string_view name, Capability capabilities,
                      ReturnCheck check_return = nullptr);

/// All declared points, sorted by name. Listing hits nothing and counts
/// nothing. Thread-safe.
std::vector<PointInfo> catalogue();

/// The declared point with this name, if there is one. Thread-safe.
std::optional<PointInfo> find_declared(std::string_view name);

/// Whether every place of the point is declared as one at which a run may
/// recover (MISHAP_RECOVERABLE_FAULT_POINT). Thread-safe.
bool is_declared_recoverable(PointId point);

}  // namespace mishap::faultinject
