#pragma once

#include <mishap/collector/raw_trace.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <typeinfo>

namespace mishap::preload {

/// The exception that was thrown last in this process, as it was when it was
/// thrown: it may be gone by now, and it may have been caught.
struct ThrowNote {
  static constexpr std::size_t kMessageBytes = 1024;

  const std::type_info* type = nullptr;
  std::int64_t thread_id = 0;
  std::int64_t steady_nanos = 0;
  collector::RawTrace trace;
  std::array<char, kMessageBytes> text{};
  std::size_t text_size = 0;
  /// False for a type that is no std::exception.
  bool has_message = false;

  std::string_view message() const noexcept { return {text.data(), text_size}; }
};

/// Notes throws from now on. Thread-safe.
void note_throws() noexcept;

/// How many were thrown since.
std::uint64_t throws_noted() noexcept;

/// Copies the newest note that is whole; false when there is none, or while a
/// throw is being noted. Thread-safe.
bool last_throw(ThrowNote& out) noexcept;

/// Another __cxa_throw comes first in this process: the executable has Mishap's
/// own, or a sanitizer's.
bool is_hooked_by_others() noexcept;

}  // namespace mishap::preload
