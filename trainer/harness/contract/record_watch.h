#pragma once

#include <mishap/trainer/guard/contract.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mishap {

/// Reads what is added to a records file, as a user with a reader would.
class RecordWatch {
 public:
  /// Starts at the present end of the file, which need not exist.
  explicit RecordWatch(std::string path);

  /// The records that were added since the last call. A line that is no record
  /// comes as one whose kind is "unreadable".
  std::vector<RecordSeen> read_new();

 private:
  std::string path_;
  std::uint64_t offset_ = 0;
};

}  // namespace mishap
