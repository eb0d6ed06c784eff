#pragma once

#include <mishap/collector/record.h>
#include <mishap/collector/run_row.h>

#include <string>
#include <vector>

namespace mishap::collector::samples {

/// Records with storage of static duration; all clocks and ids are fixed.

/// A record of which nothing is known but that something failed.
Record minimal();

/// What a failed step of a small training run leaves.
Record typical();

/// Every key holds a value, and every list at least one item.
Record maximal();

/// Bytes that are no UTF-8 and control characters in every text, and numbers
/// that JSON does not have.
Record hostile();

RunRow minimal_run();
RunRow maximal_run();

/// The line of a record, without its newline.
std::string line_of(const Record& record);
std::string line_of(const RunRow& row);

}  // namespace mishap::collector::samples
