#pragma once

namespace mishap::preload {

/// From where the libraries are torn down that are loaded so far, nothing is a
/// hit, and a case's process ends. When the program is loaded.
void end_agent_before_libraries() noexcept;

/// A case's process ends right behind the exit handlers that are registered
/// from now on: what the libraries that are loaded so far would tear down is
/// the kernel's. When the program has loaded LibTorch.
void end_case_before_libraries() noexcept;

}  // namespace mishap::preload
