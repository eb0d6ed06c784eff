#pragma once

#include <mishap/collector/io/rotation.h>
#include <mishap/collector/privacy.h>
#include <mishap/collector/record_caps.h>
#include <mishap/trainer/harness/capture/record_filter.h>

#include <cstdint>
#include <string>

namespace mishap {

/// What is kept of a run, and where.
struct CaptureOptions {
  /// Folder for records.jsonl and runs.jsonl, made when the first line is
  /// written. Empty: MISHAP_RECORDS, else "mishap-records".
  std::string records;
  /// False: the run leaves nothing in the folder, as if it had not been.
  bool writes = true;
  /// Also write a row of runs.jsonl for runs that went well.
  bool rows_of_clean_runs = false;
  /// Wait until a record is on the disk.
  bool fsync = false;
  /// Print at most twelve lines on stderr when a run fails.
  bool report_on_stderr = true;
  /// Keep a record in a slot file while the run lives, so that a process that
  /// is killed leaves one. Costs some 50 microseconds a run.
  bool pending_slot = true;
  /// A fatal signal and std::terminate() leave a record before the process ends
  /// of them as it would have. False leaves the handlers to the embedder.
  bool crashes = true;
  /// How many records of one kind, and in all, the process writes before it
  /// only counts them. A sweep has none.
  collector::RecordCaps caps{};
  /// When the files of the folder are put aside. The first run of the process
  /// that uses the folder decides.
  collector::Rotation rotation{};
  /// A file of the folder that is so large gets no more lines, so that runs
  /// that fail without end can't fill the disk. The first run that uses the
  /// folder decides. A sweep has no such limit.
  std::int64_t max_file_bytes = std::int64_t{1} << 30;
  /// What is hidden beside secrets, for the whole process from the first run
  /// on; MISHAP_PRIVATE and MISHAP_SECRET_WORDS add to it.
  collector::Privacy privacy{};
  /// Sees each record before it is written. Empty: none.
  RecordFilter filter{};
};

}  // namespace mishap
