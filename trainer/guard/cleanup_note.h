#pragma once

#include <mishap/trainer/guard/place.h>
#include <mishap/trainer/guard/signals.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

namespace mishap {

/// A SIGINT or SIGTERM that reached a run.
struct InterruptNote {
  signals::Received received;
  Place at;
  Place honoured_at;
  std::int64_t honoured_nanos = 0;
};

/// What became of one piece of the cleanup.
struct CleanupNote {
  enum class Outcome : std::uint8_t { kRan, kFailed, kSkipped, kTimedOut };
  std::string_view step;
  Component component;
  Hook hook = Hook::kNone;
  Outcome outcome = Outcome::kRan;
  std::int64_t micros = 0;
  /// Its error, as an index into Run::secondary().
  std::optional<std::size_t> error;
  /// It threw the run's first error, which is no secondary one.
  bool threw_first_error = false;
};

/// An error that came while the first one was being handled.
struct SecondaryError {
  std::exception_ptr error;
  Place place;
  std::string_view step;
};

/// The cleanup of a run, for whoever ends the process before the run has ended.
struct UnfinishedCleanup {
  /// What was noted; then the pieces that have not returned, as kTimedOut or
  /// else kFailed, innermost first; then what is still owed, as kSkipped.
  std::vector<CleanupNote> notes;
  std::vector<SecondaryError> errors;
  std::optional<InterruptNote> interrupt;
};

}  // namespace mishap
