#pragma once

#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/point.h>

namespace mishap::faultinject {

/// What can be said about a plan once the program is loaded: every `user/…`
/// name is a declared point, and every action can be taken by every point that
/// its rule matches.
/// @throws PlanError
void check_against_program(const Plan& plan);

/// Whether a point of this name can take the action; empty, or why not.
std::string cannot_take(std::string_view point, const Term& term);

}  // namespace mishap::faultinject
