#pragma once

#include <optional>
#include <string>
#include <utility>

namespace mishap::cli {

/// The variable that makes a program load libmishap_preload.so, with what the
/// variable holds already behind it. Nothing when the library is not found
/// beside this program or in ../lib/mishap.
std::optional<std::pair<std::string, std::string>> preload_variable();

}  // namespace mishap::cli
