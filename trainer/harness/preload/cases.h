#pragma once

#include <mishap/trainer/harness/program/control.h>

#include <cstdint>

namespace mishap::preload {

inline constexpr std::uint32_t kNoCase = 0xffffffff;

/// Reads the planned cases of the control file. When the program is loaded.
bool read_cases() noexcept;

/// The first case that is planned at that hit, then the next one there; kNoCase
/// when there is none. Signal-safe.
std::uint32_t first_case(std::uint32_t point, std::uint64_t hit) noexcept;
std::uint32_t next_case(std::uint32_t number) noexcept;

}  // namespace mishap::preload
