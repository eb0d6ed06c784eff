#pragma once

#include <mishap/faultinject/action.h>
#include <mishap/trainer/harness/preload/hit_stack.h>
#include <mishap/trainer/harness/program/control.h>

#include <cstdint>

namespace mishap::preload {

/// What the call that was hit has to do itself.
struct Strike {
  /// kOff: be carried out; else kErrno, kShort or kTorn.
  faultinject::ActionKind kind = faultinject::ActionKind::kOff;
  /// The errno, or the bytes.
  std::int64_t number = 0;

  explicit operator bool() const noexcept {
    return kind != faultinject::ActionKind::kOff;
  }
};

/// The fault of this process becomes that case's; it has not struck yet. When
/// the process can't be told what it is, the process ends with a sentence.
void set_fault(std::uint32_t case_number);

bool has_fault() noexcept;
/// The hit at which the fault strikes first.
bool is_first_hit(std::uint32_t point, std::uint64_t hit) noexcept;
/// It has struck; what is hit from now on comes after it.
bool has_struck() noexcept;
/// Whether a hit after the first one fails too.
bool strikes_again(std::uint32_t point) noexcept;

/// Tells the report where the fault strikes; before perform_fault().
void tell_strike(std::uint32_t point, std::uint64_t hit, const HitStack& stack,
                 std::uint32_t path) noexcept;

/// Does what the fault's action says: may throw, raise, end the process, or
/// leave it to the call.
Strike perform_fault(std::uint32_t point);

/// The thread on which the fault has struck.
bool is_thread_of_fault() noexcept;

/// What throws the types that need LibTorch.
void set_thrower(int (*thrower)(const char* type, const char* text)) noexcept;
/// Makes those types known to plans.
void register_torch_types();

}  // namespace mishap::preload
