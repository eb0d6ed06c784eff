#pragma once

#include <mishap/collector/run_facts.h>

namespace mishap {

/// What the rows of all runs of this process share; asked of the machine at the
/// first call, which allocates and may throw std::bad_alloc, and alive until
/// the process ends. Thread-safe; async-signal-safe after the first call.
const collector::RunFacts& process_facts();

}  // namespace mishap
