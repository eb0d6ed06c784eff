#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mishap::collector {

/// Whether a fault could have been injected into this run.
enum class FaultStatus : std::uint8_t { kCompiledOut, kDormant, kArmed };

/// The fault that fired: the ground truth. Empty but for `status` when none
/// did.
struct RecordFault {
  FaultStatus status = FaultStatus::kDormant;
  std::string_view point;
  /// Which hit of the point fired, one-based.
  std::optional<std::int64_t> hit;
  std::string_view action;
  /// The plan as the parser would print it.
  std::string_view spec;
  std::optional<std::uint64_t> seed;
};

/// What sort of failure this is, and what that judgement rests on.
struct RecordCategory {
  std::string_view name;
  std::string_view evidence;
};

/// Group of like failures; `parts` are the lines that were hashed.
struct RecordFingerprint {
  std::optional<std::int32_t> version;
  std::string_view hash;
  std::span<const std::string_view> parts;
};

}  // namespace mishap::collector
