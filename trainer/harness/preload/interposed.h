#pragma once

namespace mishap::preload {

// Each looks up the functions that its source stands in front of, so that no
// signal handler is the first to.
void look_up_catch_calls() noexcept;
void look_up_allocations() noexcept;
void look_up_thread_starts() noexcept;

}  // namespace mishap::preload
