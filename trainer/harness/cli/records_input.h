#pragma once

#include <mishap/collector/reader.h>

#include <cstddef>
#include <string>
#include <vector>

namespace mishap::cli {

/// Which records of a file are wanted.
struct RecordChoice {
  /// The record whose id this is or begins with; empty: by place.
  std::string id;
  /// Without an id: the last so many.
  std::size_t last = 1;
};

struct ChosenRecords {
  std::vector<collector::StoredRecord> records;
  /// Records in the file.
  std::size_t total = 0;
  /// Where its runs.jsonl lies; empty for standard input.
  std::string folder;
};

/// Reads records.jsonl, the one in a folder, or standard input ("-"). In a
/// records folder first appends what dead processes left there, and reads the
/// files that were put aside (collector::Rotation) before the one in use. A
/// line that is no record is passed over, with a line on stderr.
///
/// Throws InputError when there is no such file or record, and
/// collector::BadRecord when no line of it is a record.
ChosenRecords read_records(const std::string& path, const RecordChoice& choice);

}  // namespace mishap::cli
