#pragma once

#include <cstddef>

namespace mishap::collector {

/// How often operator new was called by this program.
std::size_t allocations() noexcept;

}  // namespace mishap::collector
