#pragma once

#include <mishap/collector/raw_trace.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::collector {

/// A thread of another process, as that process told it.
struct DumpedThread {
  std::int64_t id = 0;
  std::array<char, 16> name_text{};
  std::array<char, 16> role_text{};
  std::array<char, 96> state_text{};
  std::uint32_t truncated = 0;
  std::uint32_t frame_count = 0;
  /// Return addresses in that process, innermost first.
  std::array<std::uint64_t, RawTrace::kMaxFrames> addresses{};

  std::string_view name() const noexcept;
  std::string_view role() const noexcept;
  std::string_view state() const noexcept;
};

/// Lets the parent of this process have the stacks of all threads, by
/// dump_stacks() with the same path: makes that file, readable by its user
/// alone, and from then on answers in own_signal.h's handler. Whatever the
/// threads are doing: the answer takes no lock and no memory.
///
/// False when the file can't be made or no signal is free. For one path a
/// process. Not async-signal-safe.
bool offer_stacks(std::string_view path) noexcept;

/// Asks a child of this process that has offered its stacks for them; waits for
/// at most `wait`. Empty when it has not offered, or does not answer.
std::vector<DumpedThread> dump_stacks(const std::string& path, pid_t process,
                                      std::chrono::milliseconds wait);

namespace detail {

/// What the parent sends with the signal.
inline constexpr std::uintptr_t kStacksWanted = 0x6d73687073746b73;

/// In the handler of the signal. False when nothing was offered in this
/// process. `context` is the handler's third argument.
bool answer_stack_dump(const void* context) noexcept;

}  // namespace detail

}  // namespace mishap::collector
