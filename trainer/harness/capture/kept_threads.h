#pragma once

#include <mishap/collector/record.h>

#include <span>
#include <string>
#include <vector>

namespace mishap {

/// A copy of the threads of a record, for as long as it is needed.
class KeptThreads {
 public:
  /// Throws std::bad_alloc.
  explicit KeptThreads(std::span<const collector::RecordThreadStack> threads);

  std::span<const collector::RecordThreadStack> view() const noexcept {
    return threads_;
  }

 private:
  std::vector<collector::RecordThreadStack> threads_;
  std::vector<collector::RecordFrame> frames_;
  std::string texts_;
};

}  // namespace mishap
