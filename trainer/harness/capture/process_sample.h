#pragma once

#include <mishap/collector/record.h>

namespace mishap {

/// Memory, threads and descriptors of this process, by a few system calls.
/// Allocates nothing; what cannot be read stays empty.
collector::RecordProcess sample_process() noexcept;

}  // namespace mishap
