#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mishap::program {

/// Whether a path matches a glob: `*` and `?` within a name, `**` across
/// folders. A glob without a slash is matched against the last name, a relative
/// one against the path in the current folder.
bool path_matches(std::string_view glob, const std::string& path,
                  const std::string& current_folder);

/// The files that match a glob now. Absolute paths.
std::vector<std::string> files_matching(std::string_view glob,
                                        const std::string& current_folder);

/// The deepest folder that has no glob in it: where matches lie.
std::string folder_of_glob(std::string_view glob,
                           const std::string& current_folder);

}  // namespace mishap::program
