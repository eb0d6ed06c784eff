#pragma once

#include <mishap/collector/pending/slot_format.h>

#include <string>

namespace mishap::collector {

/// The record of a run that was killed, from the minimal one that it stored at
/// its entry: where it was last, its breadcrumbs, and the time of the last of
/// them. `same_boot`: the process ran since this machine was booted, so that
/// its ticks are still counted. Empty when the text is no record of ours.
std::string killed_record(const std::string& minimal, const SlotPages& pages,
                          bool same_boot);

}  // namespace mishap::collector
