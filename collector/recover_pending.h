#pragma once

#include <mishap/collector/record.h>
#include <mishap/collector/sink.h>

#include <cstddef>
#include <cstdint>

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

/// What a parent knows of the end of its child, for the child's records.
struct Epitaph {
  std::int64_t process = 0;
  RecordExit exit;
};

/// Appends to the sink what dead processes left in slots for its folder, and
/// removes those slots. A run that ended without reaching its guard becomes a
/// record of kind `killed` at the place where it was last, with its
/// breadcrumbs; a record that was frozen or written by a crash handler keeps
/// its kind.
///
/// A slot is dead when nobody holds its lock and its process is gone: the
/// process id is free or has another start time, or the machine was booted
/// since. Two callers at once never append the same slot twice; a process that
/// dies between appending and removing leaves the same record id twice, and
/// readers drop the second. Never throws; what fails is left for the next
/// caller. What another release of ours left in its own format is left to it.
/// Reads a few folders, which takes longer than a run's entry should:
/// call it once for a process and folder, not once for a run. An epitaph, when
/// given, becomes part of what its process left.
Recovered recover_pending(RecordSink& sink,
                          const Epitaph* epitaph = nullptr) noexcept;

}  // namespace mishap::collector
