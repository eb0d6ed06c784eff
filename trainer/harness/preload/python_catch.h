#pragma once

namespace mishap::preload {

/// Follows the error that the fault becomes in Python, to the function that
/// goes on after it, and tells the report which and where. On the thread on
/// which the fault strikes; nothing where it runs no Python, or a debugger or a
/// coverage tool traces it.
void watch_python_catch() noexcept;

}  // namespace mishap::preload
