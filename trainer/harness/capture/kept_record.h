#pragma once

#include <mishap/collector/sink.h>
#include <mishap/trainer/harness/capture/capture_options.h>
#include <mishap/trainer/harness/capture/failure_report.h>
#include <mishap/trainer/harness/capture/record_filter.h>

namespace mishap {

struct CaptureStorage;

/// Labels, counts and appends `storage.record`, unless `filter` drops it or the
/// process has written enough like it. What was left out is told in the notes
/// of the next record of its kind, and once on stderr.
RecordFate append_unless_left_out(CaptureStorage& storage,
                                  const CaptureOptions& options,
                                  collector::RecordSink& sink,
                                  const RecordFilter& filter) noexcept;

}  // namespace mishap
