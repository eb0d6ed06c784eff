#pragma once

#include <mishap/collector/crash/crash.h>
#include <mishap/collector/sink.h>
#include <mishap/trainer/harness/capture/capture_storage.h>

#include <cstdint>

namespace mishap {

/// Makes the open runs of this process the ones that tell of its crashes, and
/// gathers what a signal handler cannot. Thread-safe; the first call costs
/// half a millisecond.
void prepare_for_crashes();

/// From now on until the process ends a crash leaves a record also where no run
/// is open: `entry_point` is null then. Records go to the `sink` of the last
/// call, which must live as long. Thread-safe.
void record_crashes_outside(collector::RecordSink& sink);

/// Fills the frames of the crash's stack into the storage, behind those that
/// are there. Async-signal-safe.
collector::RecordStack fill_crash_stack(CaptureStorage& storage,
                                        const collector::Crash& crash) noexcept;

/// Fills `record.exceptions`, and `record.suppressed` with what was thrown
/// while the first one unwound the stack. Async-signal-safe for a signal.
void fill_crash_exceptions(CaptureStorage& storage,
                           const collector::Crash& crash) noexcept;

/// Writes a row of runs.jsonl with the storage's modules for a record that a
/// crash left. `row` has the run's own parts. Async-signal-safe, once at a
/// time.
void append_crash_row(collector::RecordSink& sink, collector::RunRow& row,
                      const CaptureStorage& storage) noexcept;

}  // namespace mishap
