#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace mishap::collector {

/// A piece of a stack that comes several times in a row.
struct Fold {
  /// The frames `first` to `first + size - 1` stand `times` times in a row.
  std::size_t first = 0;
  std::size_t size = 1;
  std::size_t times = 1;
};

inline constexpr std::size_t kLongestCycle = 10;

/// The longest repetition that begins at `first`, of the shortest cycle;
/// `times` is 1 when there is none. `same(i, j)` says whether two of the `size`
/// frames are of the same function.
template <typename Same>
Fold fold_at(std::size_t first, std::size_t size, Same same) noexcept {
  for (std::size_t cycle = 1; cycle <= kLongestCycle; ++cycle) {
    std::size_t end = first + cycle;
    while (end < size && same(end, end - cycle)) ++end;
    const std::size_t times = (end - first) / cycle;
    if (times > 1 && end <= size) return {first, cycle, times};
  }
  return {first, 1, 1};
}

}  // namespace mishap::collector
