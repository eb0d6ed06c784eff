#pragma once

#include <mishap/collector/show.h>
#include <mishap/trainer/harness/cli/debug_files.h>
#include <mishap/trainer/harness/program/sightings.h>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace mishap::program {

/// Names the program's frames from its files, which are read in a child, since
/// they may be damaged.
class FrameNames {
 public:
  explicit FrameNames(const ModuleList& modules,
                      std::vector<std::string> debug_folders = {})
      : modules_(modules), debug_files_(std::move(debug_folders)) {}

  /// Looks them up together, as far as that is not done: reading a large file
  /// once for each would take long.
  void look_up(std::span<const Place> places);
  /// The functions at a place that was looked up, innermost first; a place is a
  /// return address. Empty where nothing is known, as in large libraries of the
  /// system, which are left to `mishap show`.
  const std::vector<collector::NamedFrame>& of(const Place& place) const;
  /// Whether the place lies in the program's own code.
  bool is_own(const Place& place) const;

 private:
  const ModuleList& modules_;
  cli::DebugFiles debug_files_;
  std::map<Place, std::vector<collector::NamedFrame>> names_;
};

}  // namespace mishap::program
