#pragma once

#include <mishap/collector/sink.h>
#include <mishap/collector/uuid.h>
#include <mishap/trainer/harness/program/case_judge.h>
#include <mishap/trainer/harness/program/frame_names.h>

#include <string>
#include <vector>

namespace mishap::program {

/// Leaves one record for each fault that struck, and a row for the sweep.
class CaseRecords {
 public:
  CaseRecords(const std::string& folder, const ProgramOptions& options,
              const ModuleList& modules);

  /// The places of the story are to be looked up before. Returns the record's
  /// id; empty when it did not reach the file.
  std::string append(const CaseResult& result, const FrameNames& names);
  /// The row that all records share.
  void finish(bool is_good);

 private:
  collector::RecordSink sink_;
  const ProgramOptions& options_;
  const ModuleList& modules_;
  collector::Uuid run_id_ = collector::make_uuid();
  std::vector<std::string> record_ids_;
  std::int64_t start_unix_nanos_ = 0;
  std::int64_t start_steady_nanos_ = 0;
};

}  // namespace mishap::program
