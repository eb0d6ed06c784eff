#pragma once

#include <functional>
#include <map>
#include <string>

namespace mishap {

/// Logged values by name.
using Metrics = std::map<std::string, double, std::less<>>;

}  // namespace mishap
