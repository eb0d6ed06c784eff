#pragma once

#include <mishap/collector/raw_trace.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <typeinfo>

namespace mishap::collector {

/// Where one exception object was thrown, taken before the stack unwound.
struct ThrowSite {
  static constexpr std::size_t kSampleBytes = 64;
  static constexpr std::size_t kThreadNameBytes = 16;

  /// The first address returns into the function that threw.
  RawTrace trace;
  const std::type_info* type = nullptr;
  /// The kernel's thread id.
  std::int32_t thread_id = 0;
  /// The thread's name at its first captured throw, ends with a NUL.
  std::array<char, kThreadNameBytes> thread_name{};
  /// Clock::steady_nano().
  std::int64_t steady_nanos = 0;
  /// The object that was unwinding this thread's stack at the time, as the
  /// destructor that threw had to expect; null for none.
  const void* unwinding = nullptr;
  /// What the sampler wrote; all zero without one.
  alignas(16) std::array<std::byte, kSampleBytes> sample{};
};

/// Turns capture at the throw on for all threads while at least one scope
/// lives. Without any, a throw costs one relaxed load more than without the
/// hook. Thread-safe.
class ThrowCaptureScope {
 public:
  ThrowCaptureScope() noexcept;
  ~ThrowCaptureScope();
  ThrowCaptureScope(const ThrowCaptureScope&) = delete;
  ThrowCaptureScope& operator=(const ThrowCaptureScope&) = delete;
};

/// True while a ThrowCaptureScope lives.
bool throw_capture_enabled() noexcept;

/// The first throw of the very object that `error` holds, from any thread;
/// rethrowing it does not change the answer.
///
/// Nothing for a null pointer, an object made by std::make_exception_ptr, one
/// thrown while no scope lived, and when the hook is not live. Lock-free.
std::optional<ThrowSite> find_throw_site(
    const std::exception_ptr& error) noexcept;

/// An exception that was thrown and whose object still lives: caught and kept,
/// on its way, or in the result of a task that nobody asked for.
struct LiveThrow {
  static constexpr std::size_t kMaxFrames = 16;

  const void* object = nullptr;
  const std::type_info* type = nullptr;
  std::int32_t thread_id = 0;
  /// Clock::steady_nano() of the throw.
  std::int64_t steady_nanos = 0;
  /// The innermost return addresses.
  std::array<std::uintptr_t, kMaxFrames> addresses{};
  std::size_t size = 0;
};

/// Fills `out` with captured throws whose objects live, in no order; gives how
/// many were written. One that dies meanwhile may be missing. From any thread,
/// lock-free.
std::size_t live_throws(std::span<LiveThrow> out) noexcept;

/// Throws that were not captured since more exceptions than the store holds
/// were alive at once.
std::uint64_t dropped_throw_sites() noexcept;

/// Runs inside the throw, on the throwing thread: may only read what is nearly
/// free, must not allocate, lock or throw.
using ThrowSampler =
    void (*)(std::span<std::byte, ThrowSite::kSampleBytes> out) noexcept;

/// Sets the process's sampler, null for none; gives back the previous one.
/// Thread-safe.
ThrowSampler set_throw_sampler(ThrowSampler sampler) noexcept;

}  // namespace mishap::collector
