#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace at {
class Tensor;
}

namespace mishap::collector {

/// What a record keeps of a tensor: its form and the range of its values.
struct TensorSummary {
  static constexpr std::size_t kMaxDims = 8;
  /// Every value of a dense tensor is read up to this many; larger tensors, and
  /// views with gaps of more than kMaxSamples values, are sampled evenly.
  static constexpr std::int64_t kMaxValues = 65536;
  static constexpr std::int64_t kMaxSamples = 4096;

  std::array<std::int64_t, kMaxDims> shape{};
  /// May exceed kMaxDims; `shape` then holds the first ones.
  std::int64_t dims = 0;
  /// For example "float32"; lives until the process ends.
  std::string_view dtype;
  /// For example "cpu" or "cuda:0", ends with a NUL.
  std::array<char, 16> device{};
  /// Over the values read that are not NaN; none when there is no such value,
  /// or when reading would cost more than a look (tensors on a device, sparse,
  /// complex and quantised ones, an undefined tensor).
  std::optional<double> min;
  std::optional<double> max;
  /// Over the values read; none where min and max are not looked for.
  std::optional<std::int64_t> nan_count;
  /// Every value was read.
  bool complete = false;
};

/// Reads memory only: no operator is called and nothing is allocated. Takes
/// some 100 microseconds at most. Never throws.
TensorSummary summarize(const at::Tensor& tensor) noexcept;

}  // namespace mishap::collector
