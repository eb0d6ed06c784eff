#pragma once

#include <string_view>

namespace mishap::preload {

/// Reads which files io points look at: globs, one a line; none: all but the
/// system's. When the program is loaded. `control` is the control file, whose
/// folder is nobody's business.
void read_file_filter(std::string_view globs, std::string_view control);

/// Whether the calls of that file are points. The path is absolute.
bool is_point_file(std::string_view path) noexcept;

/// Whether it is told what happens to that file.
bool is_told_file(std::string_view path) noexcept;

}  // namespace mishap::preload
