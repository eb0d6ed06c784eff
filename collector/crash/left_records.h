#pragma once

#include <mishap/collector/sink.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector {

/// Tells which records of a folder a watched program left itself, so that its
/// watcher does not tell the same failure again.
class LeftRecords {
 public:
  /// What is in the folder now was left by others.
  explicit LeftRecords(const RecordSink& sink);

  struct Found {
    std::string id;
    /// error, interrupt, ...
    std::string kind;
  };
  /// Those of that process, and of any process that was told `watch_id` in
  /// MISHAP_WATCH and wrote a row of its run, oldest first.
  std::vector<Found> of(pid_t process, std::string_view watch_id) const;

 private:
  std::string records_;
  std::string runs_;
  std::uint64_t records_size_ = 0;
  std::uint64_t runs_size_ = 0;
};

}  // namespace mishap::collector
