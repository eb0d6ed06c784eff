#pragma once

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
};

}  // namespace mishap
