#pragma once

#include <mishap/collector/resolve/frame.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Names and lines of the code at `offset`, as in Frame, of a program or
/// library that need not be loaded, or of the file with its debug information;
/// innermost inlined function first, empty when nothing is known. `foreign`
/// says that it belongs to the system. Only `symbol`, `function`, `file`,
/// `line`, `inlined` and `in_app` are set.
///
/// A damaged file may bring the process down: ask in a child. Thread-safe.
/// Throws std::bad_alloc only.
std::vector<Frame> names_in_file(const std::string& path, std::uintptr_t offset,
                                 bool foreign);

}  // namespace mishap::collector
