#pragma once

#include <mishap/collector/show.h>
#include <mishap/trainer/harness/cli/debug_files.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mishap::cli {

/// Names frames of a record that another process wrote without names: finds the
/// frame's file in the run's row, or the debug file that belongs to it, and
/// reads it in a child, since it may be damaged.
class StoredFrames {
 public:
  /// Reads the row of that run from `folder`/runs.jsonl or, where it has none,
  /// from the newest of the files put aside that has; without one nothing is
  /// named. The debug files are looked for in `debug_folders` too.
  StoredFrames(const std::string& folder, const std::string& run_id,
               std::vector<std::string> debug_folders = {});

  /// Looks the unnamed frames of a record up together: reading a large file
  /// once for each would take long.
  void look_up(const collector::StoredRecord& record);

  std::vector<collector::NamedFrame> name(const collector::UnnamedFrame& frame);

  /// The build-id of a module of the row, or the name of its file where it has
  /// none; empty when there is no such module.
  std::string module_name(std::size_t module) const;

 private:
  struct File {
    std::string path;
    std::string build_id;
    /// Where the names come from; looked for once.
    std::string symbols;
    bool is_looked_for = false;
  };
  using Offsets = std::vector<std::uint64_t>;

  /// Whether the file has a row of the run; the last one counts.
  bool read_row(const std::string& path, const std::string& run_id);
  void ask(std::size_t module, const Offsets& offsets);

  DebugFiles debug_files_;
  std::vector<File> files_;
  std::map<std::pair<std::size_t, std::uint64_t>,
           std::vector<collector::NamedFrame>>
      names_;
};

}  // namespace mishap::cli
