#pragma once

#include <mishap/collector/record.h>

#include <string_view>

namespace mishap {

/// Status with which a process ends that did not handle this failure.
int exit_status_of(const collector::Record& record) noexcept;

/// Tells a failed run on stderr in at most twelve lines: what, where, the top
/// in-app frames, exit status, where the record is, one command that repeats
/// it. `is_kept`: the record stands in the file. Never throws, nor waits
/// without bound for a reader of stderr.
void report_failure(const collector::Record& record,
                    std::string_view records_path, bool is_kept) noexcept;

}  // namespace mishap
