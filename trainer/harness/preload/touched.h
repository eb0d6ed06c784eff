#pragma once

#include <mishap/trainer/harness/program/control.h>

#include <cstdint>
#include <string_view>

namespace mishap::preload {

/// Tells that this was done to the file of that path. Signal-safe.
void touch(std::uint32_t path, program::Touch what) noexcept;
/// The same where is_told_file().
void touch(std::string_view path, program::Touch what) noexcept;

/// Tells the content that the file has now, where it is a regular one of up to
/// 256 MiB; while a clean run is counted.
void tell_version(std::uint32_t path) noexcept;

/// Makes what they need. When the program is loaded.
bool make_touch_table() noexcept;

}  // namespace mishap::preload
