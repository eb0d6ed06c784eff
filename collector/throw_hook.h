#pragma once

namespace mishap::collector {

/// True if a `throw` anywhere in the process, libstdc++ and LibTorch included,
/// passes through Mishap's `__cxa_throw` before the stack unwinds.
///
/// Probes once, by throwing and catching inside libstdc++, and remembers the
/// answer. False when the hook is in a library that was loaded by `dlopen`, or
/// when another `__cxa_throw` comes first; then find_throw_site() finds nothing
/// and records are labelled StackOrigin::kCatch.
///
/// Calling it from an executable also makes the linker take the hook out of its
/// static archive. Thread-safe.
bool hook_is_live() noexcept;

}  // namespace mishap::collector
