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

/// Where a thread stopped: its instruction, stack and frame pointer.
struct StackPosition {
  std::uintptr_t instruction = 0;
  std::uintptr_t stack = 0;
  std::uintptr_t frame = 0;
};

/// The same from the place where the calling thread was interrupted; the first
/// address is the interrupted instruction itself.
std::size_t walk_stack_from(const StackPosition& position,
                            std::span<std::uintptr_t> out) noexcept;

}  // namespace mishap::collector::detail
