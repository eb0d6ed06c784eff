#pragma once

#include <mishap/collector/resolve/frame.h>

#include <string_view>

namespace mishap::collector {

/// Whether the frame is the program's own code. Not: system libraries and
/// LibTorch, wherever they lie; standard library, LibTorch and Mishap code that
/// was compiled into the program (mishap::tasks is a program's code); the
/// start-up code. A lambda belongs to the function that holds it. An unknown
/// name in the executable counts as the program's own. Signal-safe.
bool is_in_app(const Frame& frame) noexcept;

/// The same of a frame of another process; `foreign` says that it lies in a
/// system library or in LibTorch.
bool is_in_app(std::string_view symbol, std::string_view function,
               std::string_view file, bool foreign) noexcept;

/// The outermost named namespace or, without one, the function or class that a
/// mangled name starts with; "std" for the standard library; empty when the
/// name is not mangled.
std::string_view outermost_scope(std::string_view symbol) noexcept;

/// True for a function that only throws: `__cxa_throw`, `std::__throw_...`,
/// `c10::detail::torchCheckFail` and their like, and libstdc++'s cold code,
/// which has no names. Signal-safe.
bool only_throws(const Frame& frame) noexcept;

}  // namespace mishap::collector
