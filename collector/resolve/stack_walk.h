#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mishap::collector::detail {

/// Writes the calling thread's return addresses, innermost first, the one into
/// the caller included, until `out` is full or the stack ends; gives their
/// number.
///
/// 0 when the stack holds a frame that only the unwinder itself can step over
/// (a signal's, one that aligns its stack), or on another machine than x86-64:
/// then ask the unwinder. Some ten times faster than it, since the rule of each
/// code address is read from the unwind tables once and kept. Does not
/// allocate. As signal-safe as the unwinder is. Built as stack_walk_<name>.cpp.
std::size_t walk_stack(std::span<std::uintptr_t> out) noexcept;

/// Where a walk begins: the registers of a frame of the calling thread.
struct WalkStart {
  std::uintptr_t instruction = 0;
  std::uintptr_t stack_pointer = 0;
  std::uintptr_t frame_pointer = 0;
  /// One past the highest address of that stack; 0: found out.
  std::uintptr_t stack_high = 0;
};

/// Hands `visit` the return addresses of the frames outside the one that
/// `start` tells, innermost first, until it says no or the stack ends. False
/// when it came to a frame that only the unwinder can step over. As
/// signal-safe as the unwinder is.
bool visit_stack(const WalkStart& start,
                 bool (*visit)(std::uintptr_t address, void* context),
                 void* context) noexcept;

}  // namespace mishap::collector::detail
