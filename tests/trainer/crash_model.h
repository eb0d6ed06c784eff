#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "recording_store.h"

namespace mishap::checkpoint_test {

/// Paths and contents, all that is left after a crash.
using Files = std::map<std::string, std::string>;

/// What a crash after the first `done` operations may leave of a file system
/// that held `before`.
///
/// As weak as POSIX lets it be: of the names that were made, moved or removed
/// since their folder was synced each may be there or not, whatever the order;
/// of the data that was written since the file was synced there may be nothing,
/// a part, zeros in its place or a length without it. A rename happens or does
/// not.
std::set<Files> states_after_crash(const Files& before,
                                   const std::vector<Operation>& trace,
                                   std::size_t done);

}  // namespace mishap::checkpoint_test
