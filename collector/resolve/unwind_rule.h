#pragma once

#include <cstdint>

namespace mishap::collector::detail {

/// How the caller's frame follows from a frame of x86-64 code at one address,
/// where the return address lies just below the CFA (the canonical frame
/// address, the caller's stack pointer).
struct UnwindRule {
  enum class Kind : std::uint8_t {
    /// No unwind table covers the address.
    kNone,
    /// The frame has no caller.
    kOutermost,
    /// The CFA is the stack pointer plus `cfa_offset`.
    kFromRsp,
    /// The CFA is the frame pointer plus `cfa_offset`.
    kFromRbp,
    /// Anything that takes the whole unwinder.
    kComplex,
  };
  static constexpr std::int64_t kMaxCfaOffset = std::int64_t{1} << 28U;

  Kind kind = Kind::kNone;
  /// The caller's frame pointer is saved at the CFA plus `rbp_offset`; else it
  /// is unchanged.
  bool saves_rbp = false;
  /// Below kMaxCfaOffset.
  std::uint32_t cfa_offset = 0;
  std::int32_t rbp_offset = 0;
};

/// Reads the rule for the instruction at `address` from the unwind tables.
UnwindRule read_unwind_rule(std::uintptr_t address) noexcept;

}  // namespace mishap::collector::detail
