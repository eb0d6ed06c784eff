#pragma once

#include <chrono>
#include <cstdint>

namespace mishap {

/// What becomes of a process in which a run hangs, once the record stands.
enum class OnHang : std::uint8_t {
  /// Ends it under guarded_main(), else warns.
  kByProgram,
  /// Says so on stderr; the run goes on when it can.
  kWarn,
  /// Ends it by _exit(): with 124, after a signal with 128 + n.
  kEnd,
};

/// When a run is taken to hang.
struct HangOptions {
  /// No hook has begun or ended for so long, a quarter of it more at the most.
  /// Zero: as the run around it, else MISHAP_HANG_AFTER (seconds, fractions
  /// allowed), else never. Negative: never.
  std::chrono::milliseconds after{0};
  /// No safe point was reached for so long after the first SIGINT or SIGTERM.
  /// Zero or less: never.
  std::chrono::milliseconds grace_period{20'000};
  OnHang then = OnHang::kByProgram;
};

/// `options.after`, or what the environment asks for; zero for never.
/// Thread-safe. A value of the variable that is no time is said on stderr,
/// once.
std::chrono::milliseconds hang_after(const HangOptions& options) noexcept;

/// The process ends when such a run hangs.
bool ends_at_hang(const HangOptions& options) noexcept;

}  // namespace mishap
