#pragma once

#include <mishap/collector/raw_trace.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mishap::collector {

/// What one thread of this process was doing.
struct ThreadStack {
  /// The kernel's thread id.
  std::int32_t id = 0;
  std::array<char, 16> name_text{};
  std::size_t name_size = 0;
  /// main, caller, worker, ...: static storage. Empty for a thread that nobody
  /// has registered.
  std::string_view role;
  std::array<char, 96> state_text{};
  std::size_t state_size = 0;
  /// Empty when the thread did not answer; `state` then says so.
  RawTrace trace;

  std::string_view name() const noexcept {
    return {name_text.data(), name_size};
  }
  /// State letter and where it waits in the kernel, as "S futex_wait_queue";
  /// of a thread without a stack also why: ", no answer" or
  /// ", blocks the signal".
  std::string_view state() const noexcept {
    return {state_text.data(), state_size};
  }
};

/// The most threads that are asked at once.
inline constexpr std::size_t kMaxStackThreads = 512;

struct AllThreadsOptions {
  /// The longest wait for all answers together.
  std::chrono::milliseconds wait{1000};
  /// This thread is listed first.
  std::int32_t first = 0;
  /// In a signal handler: its third argument, so that the calling thread's
  /// stack is the interrupted one.
  const void* context = nullptr;
};

/// Takes the stacks of all threads of this process, the calling one included,
/// into `out`, as many as fit, and gives their number; 0 when a capture is
/// under way already.
///
/// Each thread is sent a real-time signal, whose handler walks that thread's
/// stack (own_signal.h says which). A thread in a call that signals interrupt,
/// as poll() or nanosleep(), sees EINTR.
///
/// Bounded by `wait` and some microseconds a thread for /proc. Allocates
/// nothing, takes no lock, waits for none: works while a thread hangs with the
/// heap's lock held. Async-signal-safe once warm_up_capture() has run.
std::size_t capture_all_threads(std::span<ThreadStack> out,
                                const AllThreadsOptions& options = {}) noexcept;

}  // namespace mishap::collector
