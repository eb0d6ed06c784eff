#pragma once

#include <mishap/collector/raw_trace.h>
#include <mishap/trainer/harness/preload/python_frames.h>
#include <mishap/trainer/harness/program/control.h>

#include <array>
#include <cstdint>

namespace mishap::preload {

/// The stack of a hit, with Python's frames where there are any.
struct HitStack {
  collector::RawTrace trace;
  PythonFrames python;
  /// Of the point and the frames; the same in every run of the same program.
  std::uint64_t hash = 0;
  /// The loader starts or ends a library: nothing to fail a program at.
  bool is_of_loader = false;

  /// @param caller the return address of the call that was hit.
  void take(std::uint32_t point, const void* caller) noexcept;
};

/// Puts the stack into the tables where it is new, and counts it.
void count_stack(const HitStack& stack, std::uint32_t point, std::uint64_t hit,
                 std::uint32_t path) noexcept;

/// Writes the code places of a stack; gives their number.
std::uint32_t places_of(
    const collector::RawTrace& trace,
    std::array<program::CodePlace, program::StackEntry::kFrames>& out) noexcept;

/// Makes what count_stack() needs, and takes in the stacks that the tables hold
/// already. When the program is loaded.
bool make_stack_table() noexcept;

}  // namespace mishap::preload
