#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mishap::collector {

/// A device of this machine and its memory in bytes, as far as it can be known
/// without waking the device up.
struct DeviceState {
  /// "cpu" or, as LibTorch counts them, "cuda:0"; ends with a NUL.
  std::array<char, 16> name{};
  /// The model as the driver gives it, empty when unknown; ends with a NUL.
  std::array<char, 64> model{};
  /// Held by live tensors; for the CPU see install_counting_allocator().
  std::optional<std::int64_t> allocated;
  std::optional<std::int64_t> reserved;
  std::optional<std::int64_t> free;
  std::optional<std::int64_t> peak;
};

/// Writes the CPU first, then the CUDA devices that the driver lists under
/// /proc and CUDA_VISIBLE_DEVICES leaves; gives their number. Never initialises
/// CUDA, allocates or throws.
std::size_t list_devices(std::span<DeviceState> out) noexcept;

}  // namespace mishap::collector
