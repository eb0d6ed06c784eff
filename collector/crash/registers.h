#pragma once

#include <mishap/collector/record/failure.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mishap::collector {

/// The processor's registers when a signal came, as the kernel saved them.
class Registers {
 public:
  /// `context` is the third argument of a signal handler. Async-signal-safe.
  explicit Registers(const void* context) noexcept;
  Registers() noexcept = default;

  /// All of them by name; empty on a processor that we do not know.
  std::span<const RecordRegister> all() const noexcept {
    return {all_.data(), count_};
  }

  /// The instruction at fault, and where its frame is; 0 when not known.
  std::uintptr_t instruction = 0;
  std::uintptr_t stack_pointer = 0;
  std::uintptr_t frame_pointer = 0;

 private:
  std::array<RecordRegister, 40> all_{};
  std::size_t count_ = 0;
};

}  // namespace mishap::collector
