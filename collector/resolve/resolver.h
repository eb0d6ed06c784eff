#pragma once

#include <mishap/collector/resolve/frame.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mishap::collector {

/// Which back end this build uses: "libbacktrace", "boost" or "none".
std::string_view resolver_backend() noexcept;

/// The module and the offset of one address, and no names. Thread-safe, never
/// throws.
Frame locate(std::uintptr_t address) noexcept;

/// Names and lines of one address, innermost inlined function first; gives the
/// number of frames written, at least 1 unless `out` is empty.
///
/// `exact` says that `address` is the instruction itself and not the return
/// address after it. Answers are kept for the life of the process. The first
/// call reads the debug information of all modules (about half a second with
/// LibTorch loaded), later ones take microseconds.
///
/// Thread-safe, takes a lock, not signal-safe. Never throws: what cannot be
/// found, or not for want of memory, stays empty.
std::size_t resolve(std::uintptr_t address, bool exact,
                    std::span<Frame> out) noexcept;

}  // namespace mishap::collector
