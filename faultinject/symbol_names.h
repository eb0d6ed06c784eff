#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace mishap::faultinject {

/// The number of a signal by its name (`SIGTERM`).
std::optional<int> signal_number(std::string_view name);
std::vector<std::string_view> signal_names();

/// The number of an error by its name (`ENOSPC`).
std::optional<int> errno_number(std::string_view name);
std::vector<std::string_view> errno_names();

}  // namespace mishap::faultinject
