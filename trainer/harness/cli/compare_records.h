#pragma once

#include <mishap/collector/reader.h>

#include <optional>
#include <string>

namespace mishap::cli {

/// Whether two records tell of the same failure: kind, entry point, stage,
/// hook, component, and of each exception and each error of the cleanup type
/// and message. The first difference in one sentence, or nothing.
std::optional<std::string> first_difference(
    const collector::StoredRecord& recorded,
    const collector::StoredRecord& again);

}  // namespace mishap::cli
