#pragma once

#include <mishap/faultinject/sweep/options.h>

#include <string_view>

namespace mishap::faultinject::sweep {

/// Makes `options` choose the one case with this id, a pair included: sets
/// entry point, action, mode, `only` and `pairs`.
/// @throws SweepError for a text that is no case's id.
void choose_case(Options& options, std::string_view id);

}  // namespace mishap::faultinject::sweep
