#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace mishap::fuzz {

/// The first thing in `value` that the JSON Schema does not allow, as far as
/// keys, types and lists of words go: path and reason.
std::optional<std::string> misfit(const nlohmann::json& value,
                                  const nlohmann::json& schema);

}  // namespace mishap::fuzz
