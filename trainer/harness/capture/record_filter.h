#pragma once

#include <mishap/collector/record.h>

#include <cstdint>
#include <functional>

namespace mishap {

struct CaptureStorage;

/// What a filter says of a record.
enum class FilterVerdict : std::uint8_t { kKeep, kDrop };

/// Looks at a record before it is written, and may change or drop it. What it
/// changes in the record must live until the filter is called again on the same
/// thread: the record holds views.
///
/// Called on the thread of the failed run, once when the run's record is frozen
/// and once more when it is complete; never in a signal handler, nor when
/// another thread ends the process: such records are written with the secrets
/// replaced (redact_text.h), unfiltered. It should take milliseconds: the
/// caller of the run waits. Nothing bounds it but the hang watchdog.
using RecordFilter = std::function<FilterVerdict(collector::Record&)>;

/// Asks the filter, if there is one. When it throws the record is kept without
/// the texts that it might have taken out: messages, warnings, commands, the
/// end of stderr; `failed` is then set. The error of the filter goes no
/// further.
FilterVerdict apply_filter(const RecordFilter& filter, CaptureStorage& storage,
                           bool& failed) noexcept;

}  // namespace mishap
