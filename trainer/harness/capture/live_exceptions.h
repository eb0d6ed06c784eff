#pragma once

#include <mishap/collector/run_row.h>
#include <mishap/trainer/guard/run.h>
#include <mishap/trainer/harness/capture/capture_storage.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace mishap {

/// The exceptions that were thrown since a run began, on any thread, and that
/// still live although the run's record does not tell of them: an error that a
/// task of std::async ended with and nobody asked for, one that was caught and
/// kept. Allocates; throws std::bad_alloc.
class LiveExceptions {
 public:
  /// `storage` has the chain of the run's failure, and gets the modules that
  /// the throws lie in.
  LiveExceptions(std::int64_t since_steady_nanos, const Run& run,
                 CaptureStorage& storage);

  /// Views into this object, oldest first.
  std::span<const collector::RunLiveException> rows() const noexcept {
    return rows_;
  }

 private:
  std::deque<std::string> texts_;
  std::vector<collector::RunLiveException> rows_;
};

}  // namespace mishap
