#pragma once

#include <array>
#include <cstddef>

namespace mishap {

/// What a call that can be made to fail does.
enum class CallKind : unsigned char { kAllocation, kSystemCall, kLock };
inline constexpr std::size_t kCallKinds = 3;

/// Counts the allocations, system calls and locks that this thread asks for
/// while a Watched lives, and fails one of them. Linking this replaces malloc,
/// operator new, the system calls that write and look at files, and the
/// mutexes, for the whole program.
class FailingCalls {
 public:
  /// The call with that number, from 1, fails; 0: none does. Counting begins
  /// anew.
  static void fail(std::size_t number) noexcept;
  static std::size_t count() noexcept;
  static std::size_t count(CallKind kind) noexcept;
  /// The name of the call that failed; null when none did.
  static const char* failed() noexcept;
  /// The name of the call with that number; null when there was none, or too
  /// many to keep.
  static const char* name(std::size_t number) noexcept;

  class Watched {
   public:
    Watched() noexcept;
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
  };
};

}  // namespace mishap
