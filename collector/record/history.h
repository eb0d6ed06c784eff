#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mishap::collector {

enum class CrumbPhase : std::uint8_t { kBefore, kAfter };

/// One moment of a hook of one component. Given oldest first, the newest 128
/// count. The writer joins them: one item holds a hook, the components that it
/// went through in a row, and how long ago it began and how long it took, null
/// when it has not returned.
struct RecordBreadcrumb {
  std::string_view hook;
  std::string_view component;
  CrumbPhase phase = CrumbPhase::kBefore;
  /// Steady clock of the record (Clock::steady_nano).
  std::int64_t steady_nano = 0;
};

/// One of the last steps, oldest first. A non-finite loss is written as null
/// with its word in `loss_word`.
struct RecordTelemetry {
  std::int64_t step = 0;
  std::optional<double> loss;
  std::optional<std::int64_t> step_micros;
};

}  // namespace mishap::collector
