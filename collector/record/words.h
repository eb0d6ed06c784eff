#pragma once

#include <mishap/collector/record.h>
#include <mishap/collector/run_row.h>

#include <string_view>

namespace mishap::collector {

/// The words that stand for the enumerators in a line. All async-signal-safe.
std::string_view to_string(RecordKind kind) noexcept;
std::string_view to_string(ProcessPhase phase) noexcept;
/// A null view for kNone.
std::string_view to_string(StackOrigin origin) noexcept;
std::string_view to_string(CleanupOutcome outcome) noexcept;
std::string_view to_string(WeightState state) noexcept;
std::string_view to_string(FaultStatus status) noexcept;
std::string_view to_string(RunOutcome outcome) noexcept;

}  // namespace mishap::collector
