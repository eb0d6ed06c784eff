#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mishap::collector {

/// Memory of one device, in bytes, sampled before any cleanup.
struct RecordDevice {
  /// cpu, cuda:0, ...
  std::string_view name;
  std::optional<std::int64_t> allocated_bytes;
  std::optional<std::int64_t> reserved_bytes;
  std::optional<std::int64_t> free_bytes;
  std::optional<std::int64_t> peak_bytes;
};

/// The process, sampled before any cleanup.
struct RecordProcess {
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> rss_bytes;
  /// The most that it ever was.
  std::optional<std::int64_t> peak_rss_bytes;
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> fds;
};

/// Modes of LibTorch and of the model where the error came from.
struct RecordModes {
  std::optional<bool> grad_enabled;
  std::optional<bool> inference_mode;
  std::optional<bool> anomaly;
  std::optional<bool> deterministic;
  std::string_view default_dtype;
  /// The module's training flag.
  std::optional<bool> training;
  std::optional<std::int64_t> intra_op_threads;
  std::optional<std::int64_t> inter_op_threads;
};

/// Summary of one tensor of the batch. A non-finite minimum or maximum is
/// written as null with its word in the key beside it.
struct RecordTensor {
  std::string_view name;
  std::span<const std::int64_t> shape;
  std::string_view dtype;
  std::string_view device;
  std::optional<double> min;
  std::optional<double> max;
  std::optional<std::int64_t> nan_count;
};

/// Whether the parameters belong to one step.
enum class WeightState : std::uint8_t { kConsistent, kPartial };

/// The last good checkpoint to go on from. All empty when there is none.
struct RecordResume {
  std::string_view path;
  std::optional<std::int64_t> step;
  std::string_view checksum;
};

struct RecordWarning {
  std::string_view message;
  /// How often this message came.
  std::int64_t count = 1;
};

}  // namespace mishap::collector
