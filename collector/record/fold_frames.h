#pragma once

#include <mishap/collector/record/failure.h>

#include <cstddef>
#include <span>

namespace mishap::collector {

struct FoldedFrames {
  std::size_t frames = 0;
  std::size_t repeats = 0;
};

/// Folds recursion in place: of what comes several times in a row, frames of
/// the same function or at the same address, the first stays in `frames` and
/// `repeats` says how often it came. What finds no room in `repeats` stays as
/// it is. Async-signal-safe.
FoldedFrames fold_frames(std::span<RecordFrame> frames,
                         std::span<RecordRepeat> repeats) noexcept;

}  // namespace mishap::collector
