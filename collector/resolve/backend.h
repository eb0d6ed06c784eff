#pragma once

#include <mishap/collector/resolve/frame.h>
#include <mishap/collector/resolve/name_cache.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector::detail {

/// What one resolver_<name>.cpp provides; the build compiles one of them.

extern const std::string_view kBackendName;

/// Names of the instruction at `address`, innermost inlined function first;
/// `symbol`, `function`, `file`, `line` and `inlined` are filled in. Empty when
/// nothing is known. `module` is the index of the module that holds it. Called
/// under a lock. Throws std::bad_alloc only.
std::vector<Frame> look_up(std::uintptr_t address, std::size_t module,
                           NameCache& cache);

/// The same of the code at `offset` in a file that need not be loaded. What it
/// reads of the file it keeps for the life of the process.
std::vector<Frame> look_up_in_file(const std::string& path,
                                   std::uintptr_t offset, NameCache& cache);

}  // namespace mishap::collector::detail
