#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mishap::cli {

/// The variables that make a program load libmishap_preload.so, with what they
/// hold already kept. Empty when the library is not found beside this program
/// or in ../lib/mishap.
std::vector<std::pair<std::string, std::string>> preload_variables();

}  // namespace mishap::cli
