#pragma once

#include <cstdint>

namespace mishap::preload {

/// Flags of program::Obstacle: why this process can't be forked where it
/// stands. Allocates nothing.
std::uint32_t obstacles_to_fork() noexcept;

/// What is open now came from whoever started the program, which knows nothing
/// of it: no obstacle. When the program is loaded.
void note_inherited() noexcept;

/// How many threads the process has.
std::uint32_t thread_count() noexcept;

}  // namespace mishap::preload
