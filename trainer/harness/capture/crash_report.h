#pragma once

#include <mishap/collector/crash/crash.h>
#include <mishap/collector/record.h>
#include <mishap/trainer/harness/capture/failure_report.h>

#include <string_view>

namespace mishap {

/// Tells a crash on stderr in at most twelve lines: what, where, the thread,
/// the innermost frames as modules and offsets, how the process ends, where the
/// record is and how to read it.
/// Async-signal-safe, waits a tenth of a second at most.
void report_crash(const collector::Record& record,
                  const collector::Crash& crash, std::string_view records_path,
                  RecordFate fate) noexcept;

}  // namespace mishap
