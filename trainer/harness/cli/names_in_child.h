#pragma once

#include <mishap/collector/show.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mishap::cli {

/// The functions at each of these offsets of a program, library or debug file,
/// innermost first; see collector::names_in_file(). A child reads the file: one
/// that is damaged, or that takes a minute, names nothing.
std::vector<std::vector<collector::NamedFrame>> names_in_child(
    const std::string& file, bool is_foreign,
    const std::vector<std::uint64_t>& offsets);

}  // namespace mishap::cli
