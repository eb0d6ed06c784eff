#pragma once

namespace mishap::preload {

/// A case's process ends right behind the program's own exit handlers: what the
/// libraries that are loaded so far would tear down is the kernel's. When the
/// program is loaded, and when it has loaded LibTorch.
void end_case_before_libraries() noexcept;

}  // namespace mishap::preload
