#pragma once

#include <mishap/collector/run_row.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector {

/// The facts of a run row that can be asked of the machine: versions of Mishap
/// and the compiler, host, job, command line, environment.
///
/// Of the environment only names on the allow-list are kept: CUDA_*, TORCH_*,
/// OMP_*, NCCL_*, MISHAP_*, SLURM_*, RANK, WORLD_SIZE, LOCAL_RANK. Values of
/// secrets (see redact.h) are replaced there and in the command line.
///
/// Owns the texts that fill() points to. Gathering allocates and may throw
/// std::bad_alloc; it belongs to the end of a run, not to the training path.
class RunFacts {
 public:
  /// Asks the machine.
  static RunFacts gather();

  /// Sets the fields of `row` that are known here; the other ones stay. The
  /// views stay valid as long as this object.
  void fill(RunRow& row) const noexcept;

  /// This process's number among those of the job, as torchrun, Slurm or MPI
  /// tell it; nothing without one.
  std::optional<std::int32_t> rank() const noexcept { return rank_; }
  std::optional<std::int32_t> world_size() const noexcept {
    return world_size_;
  }

 private:
  std::string_view keep(std::string text);
  void read_host();
  void read_job();
  void read_rank();
  void read_command_line();
  void read_environment();

  // A deque, so that views stay valid while it grows and when it is moved.
  std::deque<std::string> texts_;
  RunHost host_;
  RunJob job_;
  std::optional<std::int32_t> rank_;
  std::optional<std::int32_t> world_size_;
  std::string_view working_directory_;
  std::vector<std::string_view> command_line_;
  std::vector<NameValue> environment_;
};

}  // namespace mishap::collector
