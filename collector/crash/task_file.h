#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mishap::collector::detail {

/// Reads the start of /proc/self/task/<id>/<name> into `out` and gives what was
/// read, without a newline at its end; empty when there is no such file or
/// thread. Async-signal-safe.
std::string_view read_task_file(std::int32_t id, std::string_view name,
                                std::span<char> out) noexcept;

/// The kernel ids of this process's threads, as many as fit into `out`; gives
/// their number. Async-signal-safe.
std::size_t list_tasks(std::span<std::int32_t> out) noexcept;

/// What the kernel says that a thread does: state letter, and where it waits,
/// as "S futex_wait_queue"; with the number of its system call where the kernel
/// does not name the place, as "S syscall 202". Empty when the thread is gone.
/// Written into `out`. Async-signal-safe.
std::string_view read_task_state(std::int32_t id, std::span<char> out) noexcept;

/// The signal's bit in a set of the kernel's.
constexpr std::uint64_t signal_bit(int signal) noexcept {
  return std::uint64_t{1} << static_cast<unsigned>(signal - 1);
}

/// Signals that the thread blocks, by their signal_bit(); 0 when not known.
/// Async-signal-safe.
std::uint64_t read_blocked_signals(std::int32_t id) noexcept;

}  // namespace mishap::collector::detail
