#pragma once

#include <filesystem>
#include <string_view>

namespace mishap::tasks {

/// The path of a data file, for example "digits/digits.csv", in the first of
/// these folders:
///  1. `folder`, what a person gave as `--data`;
///  2. the environment variable MISHAP_DATASETS;
///  3. ../datasets and ../share/mishap/datasets beside the executable;
///  4. the source tree that this library was built from.
///
/// A folder that was named by a person (1, 2) is the only one looked into, so
/// that a mistyped one never falls back to other data unnoticed.
///
/// Throws InputError naming the folders searched and what to set.
std::filesystem::path find_data(std::string_view name,
                                const std::filesystem::path& folder = {});

}  // namespace mishap::tasks
