#pragma once

#include <typeinfo>

namespace mishap::preload {

/// Follows the exception that the fault becomes, by whichever handlers and
/// rethrows, to the handler that keeps it; from now on. `is_ignored_so_far`:
/// the call fails, and its caller is who ignores it until it throws.
void begin_catch_watch(bool is_ignored_so_far) noexcept;

// What the functions of the C++ runtime report before they do their work. From
// any thread.
void on_throw(void* object, const std::type_info& type,
              const void* caller) noexcept;
void on_begin_catch(void* unwinding, const void* caller) noexcept;
void on_end_catch() noexcept;
/// Nobody has a handler for it: terminate() is next, whose own handlers only
/// look at it.
void on_uncaught() noexcept;
void on_rethrow() noexcept;
/// Of an exception_ptr that holds `object`.
void on_rethrow_of(const void* object) noexcept;

}  // namespace mishap::preload
