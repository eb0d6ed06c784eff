#pragma once

#include <mishap/collector/run_row.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mishap::collector {

/// Fills start, end and duration of a run that ends now. Both clocks as
/// Clock::system() gave them at its start.
void fill_times(RunRow& row, std::int64_t start_unix_nanos,
                std::int64_t start_steady_nanos) noexcept;

/// The modules of a run's row with the texts that they point to.
class RowModules {
 public:
  /// By their index for module_at(). Throws std::bad_alloc.
  explicit RowModules(std::span<const int> modules);
  RowModules(const RowModules&) = delete;
  RowModules& operator=(const RowModules&) = delete;

  std::span<const RunModule> view() const noexcept { return modules_; }

 private:
  std::vector<std::string> build_ids_;
  std::vector<RunModule> modules_;
};

}  // namespace mishap::collector
