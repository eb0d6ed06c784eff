#pragma once

namespace mishap {

/// Exit status of a program whose cleanup passed its limit.
inline constexpr int kStatusOfOvertime = 124;

/// Lives as long as the program's work runs under guarded_main(): what ends
/// without a way out may end the process then.
class GuardedProgram {
 public:
  GuardedProgram() noexcept;
  ~GuardedProgram();
  GuardedProgram(const GuardedProgram&) = delete;
  GuardedProgram& operator=(const GuardedProgram&) = delete;

  /// One lives. Thread-safe.
  static bool is_running() noexcept;
};

}  // namespace mishap
