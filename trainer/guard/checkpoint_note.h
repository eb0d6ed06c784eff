#pragma once

#include <cstdint>
#include <string_view>

namespace mishap {

/// A checkpoint that is whole and in its place: one to go on from.
struct CheckpointNote {
  std::string_view path;
  /// The step that it was saved after; -1: not known.
  std::int64_t step = -1;
  /// With its kind in front, as "xxh3-128:…"; empty: not known.
  std::string_view checksum;
};

}  // namespace mishap
