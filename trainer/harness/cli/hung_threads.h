#pragma once

#include <mishap/collector/crash/stack_dump.h>
#include <mishap/collector/record/failure.h>
#include <mishap/collector/run_row.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mishap::cli {

/// The threads of a program that hangs, as it told its watcher, with the
/// modules that their frames lie in, as the kernel has them mapped.
class HungThreads {
 public:
  /// Asks anew; waits for at most two seconds. `path` is where the program has
  /// offered its stacks (stack_dump.h). Throws std::bad_alloc.
  void ask(const std::string& path, pid_t process);

  /// Empty when it did not answer. Valid until the next ask().
  std::span<const collector::RecordThreadStack> threads() const {
    return threads_;
  }
  /// For the row of the run; frames hold indices into it.
  std::span<const collector::RunModule> modules() const { return modules_; }

 private:
  struct File {
    std::string path;
    std::string build_id;
    std::uint64_t load_address = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    /// Index into modules_, once a frame lies in it.
    std::optional<std::uint32_t> row;
  };

  void read_files(pid_t process);
  collector::RecordFrame frame_at(std::uint64_t address);

  std::vector<collector::DumpedThread> told_;
  std::vector<File> files_;
  std::vector<collector::RunModule> modules_;
  std::vector<collector::RecordFrame> frames_;
  std::vector<collector::RecordThreadStack> threads_;
};

}  // namespace mishap::cli
