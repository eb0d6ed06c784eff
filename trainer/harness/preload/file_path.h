#pragma once

#include <fcntl.h>

#include <array>
#include <string_view>

namespace mishap::preload {

using PathRoom = std::array<char, 4096>;

/// The path as an absolute one without `.` and `..`; links stay as they are.
/// Empty when it doesn't fit. `folder` as in openat().
std::string_view absolute_path(int folder, const char* path,
                               PathRoom& room) noexcept;

/// The path of an open file, links resolved; empty when it has none.
std::string_view path_of_descriptor(int descriptor, PathRoom& room) noexcept;

}  // namespace mishap::preload
