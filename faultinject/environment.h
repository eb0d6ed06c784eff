#pragma once

#include <mishap/faultinject/scenario.h>

#include <optional>

namespace mishap::faultinject {

/// The plan in MISHAP_FAULTS, then the one in the file that MISHAP_FAULTS_FILE
/// names; nothing when neither is set. A plan without `seed=` takes
/// MISHAP_SEED.
/// @throws PlanError naming the variable, or the file and what it said.
std::optional<Plan> plan_from_environment();

/// Arms that plan for the process; the scenario is empty without one. To be
/// called by programs that want to take faults from outside: nothing else reads
/// these variables.
/// @throws PlanError
[[nodiscard]] Scenario arm_from_environment(
    Announce announce = Announce::kStderr);

}  // namespace mishap::faultinject
