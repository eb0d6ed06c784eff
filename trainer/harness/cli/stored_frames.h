#pragma once

#include <mishap/collector/show.h>

#include <string>
#include <vector>

namespace mishap::cli {

/// Names frames of a record that another process wrote without names: finds the
/// frame's file in the run's row and asks addr2line, provided that the file
/// still is what it was (build-id).
class StoredFrames {
 public:
  /// Reads the row of that run from `folder`/runs.jsonl; without one, or
  /// without an addr2line, nothing is named.
  StoredFrames(const std::string& folder, const std::string& run_id);

  std::vector<collector::NamedFrame> name(
      const collector::UnnamedFrame& frame) const;

 private:
  struct File {
    std::string path;
    std::string build_id;
  };
  std::vector<File> files_;
};

/// The GNU build-id of an ELF file in hex digits; empty when it has none.
std::string build_id_of(const std::string& path);

}  // namespace mishap::cli
