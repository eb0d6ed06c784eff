#pragma once

#include <mishap/collector/record.h>
#include <mishap/trainer/harness/capture/failure_report.h>
#include <mishap/trainer/harness/capture/hang_watch.h>

#include <string_view>

namespace mishap {

/// Tells on stderr of a run that hangs, in at most eight lines: for how long,
/// where, how many threads, whether the process ends, where the record is, one
/// command that repeats it. Does not wait without bound for a reader.
/// Async-signal-safe.
void report_hang(const collector::Record& record, const HangCause& cause,
                 std::string_view records_path, RecordFate fate) noexcept;

/// The process ends with 124 in ten seconds, whatever hangs until then.
/// Async-signal-safe.
void end_process_soon() noexcept;

}  // namespace mishap
