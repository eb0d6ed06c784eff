#pragma once

#include <mishap/collector/record.h>

#include <cstdint>
#include <string_view>

namespace mishap {

/// What became of a record.
enum class RecordFate : std::uint8_t {
  kWritten,
  /// Its file did not take it; it stands on stderr.
  kLost,
  /// There were enough like it (CaptureOptions::caps).
  kCounted,
  /// The user's filter said so.
  kDropped,
  /// The run keeps none (CaptureOptions::writes).
  kNotWanted,
};

/// Why a record stands in no file, as the end of a sentence that begins with
/// it. Async-signal-safe.
std::string_view why_not_kept(RecordFate fate) noexcept;

/// Status with which a process ends that did not handle this failure.
int exit_status_of(const collector::Record& record) noexcept;

/// Tells a failed run on stderr in at most twelve lines: what, where, the top
/// in-app frames, exit status, where the record is, one command that repeats
/// it. Never throws, nor waits without bound for a reader of stderr.
void report_failure(const collector::Record& record,
                    std::string_view records_path, RecordFate fate) noexcept;

}  // namespace mishap
