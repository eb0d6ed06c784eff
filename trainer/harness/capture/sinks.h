#pragma once

#include <mishap/collector/sink.h>
#include <mishap/trainer/harness/capture/capture_options.h>

namespace mishap {

/// The process's sink for the folder that the options name. The first use of a
/// folder appends what dead processes left there. Thread-safe; sinks live until
/// the process ends.
collector::RecordSink& sink_for(const CaptureOptions& options);

/// The folder that the options name: `records`, else MISHAP_RECORDS, else
/// "mishap-records".
std::string folder_for(const CaptureOptions& options);

}  // namespace mishap
