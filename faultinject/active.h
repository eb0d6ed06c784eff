#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace mishap::faultinject {

/// `compiled_out`: no point of this build can fire; `dormant`: nothing is
/// armed; `armed`: at least one plan is.
enum class Status : std::uint8_t { kCompiledOut, kDormant, kArmed };

Status status() noexcept;
std::string_view to_string(Status status) noexcept;

#ifdef MISHAP_NO_FAULT_POINTS

constexpr bool active() noexcept { return false; }

namespace detail {
inline const std::atomic<std::uint32_t> listeners{0};
}  // namespace detail
inline const std::atomic<std::uint32_t>& listeners() noexcept {
  return detail::listeners;
}

#else

namespace detail {
/// Armed plans and running traces.
inline std::atomic<std::uint32_t> listeners{0};
}  // namespace detail

/// How many plans are armed and traces run; 0 as long as no hit has to be
/// reported.
inline const std::atomic<std::uint32_t>& listeners() noexcept {
  return detail::listeners;
}

/// Whether a hit has to be reported: something is armed, or hits are counted.
/// One relaxed load.
inline bool active() noexcept {
  return detail::listeners.load(std::memory_order_relaxed) != 0;
}

#endif

}  // namespace mishap::faultinject
