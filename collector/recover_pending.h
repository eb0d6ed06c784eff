#pragma once

#include <mishap/collector/sink.h>

#include <cstddef>

namespace mishap::collector {

/// What recover_pending() did.
struct Recovered {
  /// Records that dead processes left and that were appended now.
  std::size_t appended = 0;
  /// Slots of processes that are still at work.
  std::size_t alive = 0;
  /// Slots without a usable record; they were removed.
  std::size_t damaged = 0;
};

/// Appends to the sink what dead processes left in slots for its folder, and
/// removes those slots. A run that ended without reaching its guard becomes a
/// record of kind `killed` at the place where it was last; a record that was
/// frozen or written by a crash handler keeps its kind.
///
/// A slot is dead when nobody holds its lock and its process is gone: the
/// process id is free or has another start time, or the machine was booted
/// since. Two callers at once never append the same slot twice; a process that
/// dies between appending and removing leaves the same record id twice, and
/// readers drop the second. Never throws; what fails is left for the next
/// caller. Reads a few folders, which takes longer than a run's entry should:
/// call it once for a process and folder, not once for a run.
Recovered recover_pending(RecordSink& sink) noexcept;

}  // namespace mishap::collector
