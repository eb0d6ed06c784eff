#pragma once

#include <cstdio>

namespace mishap::preload {

/// Whether the stream holds what has not been written yet.
bool holds_unwritten(std::FILE* stream) noexcept;

/// A call writes what the stream holds: io/write. True when that fails: errno
/// and the stream's error are set, and what it held is lost, as it is when the
/// disk is full. May throw, as a hit does.
bool flush_fails(std::FILE* stream, const void* caller);

}  // namespace mishap::preload
