#pragma once

#include <mishap/collector/reader.h>
#include <mishap/collector/show.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mishap::collector {

/// The labels of a record that was read.
struct StoredLabels {
  std::string category;
  std::string evidence;
  /// Version, hash and parts as Fingerprint makes them.
  std::int32_t version = 0;
  std::string hash;
  std::vector<std::string> parts;
};

/// What the record itself does not hold.
struct StoredNames {
  /// Names of a frame that has none yet; may be empty.
  std::function<std::vector<NamedFrame>(const UnnamedFrame&)> name_frame;
  /// Build-id of a module of the run's row, or the name of its file where it
  /// has none; may be empty.
  std::function<std::string(std::size_t module)> module;
};

/// Judges a stored record anew: one that a dead process left, or one whose
/// frames have names by now. The labels of a record whose frames were named
/// when it was written come out as they stand in it, provided that no frame of
/// the program was left out. Throws std::bad_alloc only.
StoredLabels labels_of(const StoredRecord& record,
                       const StoredNames& names = {});

}  // namespace mishap::collector
