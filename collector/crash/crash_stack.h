#pragma once

#include <mishap/collector/crash/registers.h>
#include <mishap/collector/crash/thread_registry.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mishap::collector {

/// The stack of the thread that fails, of any depth: its innermost and its
/// outermost frames, and how often a recursion between them repeats. Storage
/// of its own, 2 KB.
class CrashStack {
 public:
  static constexpr std::size_t kFirst = 64;
  static constexpr std::size_t kLast = 32;

  /// The stack that a signal interrupted; the first address is the instruction
  /// itself. To be called in the signal's handler. Async-signal-safe once
  /// warm_up() has run, but for a stack that is itself damaged, which may raise
  /// another signal.
  void take(const Registers& registers,
            const RegisteredThread& thread) noexcept;

  /// The stack of the caller, from the frame whose return address is `first`.
  void take_here(const void* first) noexcept;

  /// The instruction at fault and nothing else.
  void take_instruction(std::uintptr_t instruction) noexcept;

  /// Makes the unwinder load what it loads at its first use.
  static void warm_up() noexcept;

  /// Innermost first; of a recursion one round.
  std::span<const std::uintptr_t> addresses() const noexcept {
    return {addresses_.data(), size_};
  }
  /// The first address is that of an instruction, not one to return to.
  bool exact_first() const noexcept { return exact_first_; }
  /// Frames in the middle were left out that are no rounds of the recursion.
  bool truncated() const noexcept { return truncated_; }
  /// How many frames there were.
  std::size_t depth() const noexcept { return depth_; }
  /// How many frames one round of a recursion has that was folded, where in
  /// addresses() they begin, and how many rounds there were; 0 without one.
  std::size_t round_frames() const noexcept { return round_frames_; }
  std::size_t round_first() const noexcept { return round_first_; }
  std::size_t rounds() const noexcept { return rounds_; }

 private:
  class Collector;

  void keep(const Collector& found) noexcept;

  std::array<std::uintptr_t, kFirst + kLast> addresses_{};
  std::size_t size_ = 0;
  std::size_t depth_ = 0;
  std::size_t round_frames_ = 0;
  std::size_t round_first_ = 0;
  std::size_t rounds_ = 0;
  bool truncated_ = false;
  bool exact_first_ = false;
};

}  // namespace mishap::collector
