#pragma once

namespace mishap::collector::detail {

/// Puts ours over the terminate handler that is there and remembers that: it is
/// called behind ours, which never returns and ends the process by SIGABRT if
/// that one does not. Call under a lock.
///
/// std::terminate() is called for an exception that leaves main() or a thread's
/// function, one that meets a noexcept, one that a destructor throws while
/// another one unwinds the stack, `throw;` without one, a thread that is
/// destroyed while it can be joined, a pure virtual call. Each is one record;
/// of two exceptions the first is the error.
void install_terminate_handler() noexcept;

/// Gives it back, if ours is still in place. Call under the same lock.
void give_back_terminate_handler() noexcept;

}  // namespace mishap::collector::detail
