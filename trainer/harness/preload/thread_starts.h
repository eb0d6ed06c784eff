#pragma once

namespace mishap::preload {

/// Is called on each thread of the program that starts from now on, before its
/// function. Threads of LibTorch's own and of OpenMP are left alone.
void set_thread_starter(void (*starts)()) noexcept;

}  // namespace mishap::preload
