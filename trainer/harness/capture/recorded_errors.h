#pragma once

#include <mishap/collector/uuid.h>

#include <exception>
#include <optional>

namespace mishap {

/// The record of an error that came out of a run.
struct RecordedError {
  collector::Uuid record_id;
  /// The run that its run was nested in; nil for none.
  collector::Uuid parent_run_id;
};

/// Remembers which record tells of this very object, for whoever sees it next,
/// on any thread; the last few are kept. An object is known again by its
/// address and the moment of its throw: addresses are used again.
void remember_recorded(const std::exception_ptr& error,
                       const RecordedError& recorded) noexcept;

/// Nothing when no record is known to tell of it.
std::optional<RecordedError> find_recorded(
    const std::exception_ptr& error) noexcept;

}  // namespace mishap
