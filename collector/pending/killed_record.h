#pragma once

#include <mishap/collector/pending/slot_format.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace mishap::collector {

/// Turns the minimal record that a run stored at its entry into one of kind
/// `killed`: where it was last, its breadcrumbs, and the time of the last of
/// them. `same_boot`: the process ran since this machine was booted, so that
/// its ticks are still counted. Throws json::exception when the text is no
/// record of ours.
void bring_up_to_date(nlohmann::ordered_json& record, const SlotPages& pages,
                      bool same_boot);

}  // namespace mishap::collector
