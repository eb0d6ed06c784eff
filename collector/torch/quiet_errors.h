#pragma once

namespace mishap::collector {

/// Stops LibTorch from reading and formatting a backtrace for every c10::Error,
/// which takes it milliseconds: errors then cost microseconds, what() ends with
/// the source line in LibTorch, and the stack is the one that the throw hook
/// takes.
///
/// Process-wide and for good: LibTorch has no way to ask for the fetcher that
/// was set before, nor a lock around it. So it is opt-in; call it once, early,
/// before other threads use LibTorch.
void quiet_c10_errors();

}  // namespace mishap::collector
