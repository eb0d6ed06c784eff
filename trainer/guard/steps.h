#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mishap {

class Run;

/// One named piece of how a run ends.
struct GuardStep {
  /// When the step is walked.
  enum class On : std::uint8_t { kSuccess, kFailure, kBoth };

  std::string_view name;
  On on;
  /// An error that leaves it is the run's first error, or, after a failure,
  /// noted as a secondary one; only the last step of a failure may throw.
  void (*run)(Run&);
};

using StepList = std::vector<GuardStep>;

/// The steps of every guard, in order. On success those marked kSuccess and
/// kBoth are walked; the first error, wherever it came from, starts the walk of
/// kFailure and kBoth, in which each piece runs only if it has not run yet.
const StepList& standard_steps();

}  // namespace mishap
