#pragma once

#include <cstdint>

namespace mishap::preload {

/// The program stands at the hit of a case: hands the turn to the supervisor
/// and does what it says. In a child that is to fail here: true, with
/// everything set up for it. In the program, when the case is over: false, and
/// nothing has changed.
bool fork_at_hit(std::uint32_t case_number) noexcept;

}  // namespace mishap::preload
