#pragma once

#include <functional>
#include <map>
#include <string>

namespace mishap {

/// Logged values by name.
using Metrics = std::map<std::string, double, std::less<>>;

/// Their names for a message: "a, b", or "none".
std::string names_of(const Metrics& metrics);

}  // namespace mishap
