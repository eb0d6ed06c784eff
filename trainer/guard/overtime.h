#pragma once

#include <mishap/trainer/guard/cleanup_note.h>

#include <chrono>
#include <string_view>

namespace mishap {

/// A piece of cleanup that has passed its limit and still runs.
struct Overtime {
  std::string_view entry_point;
  /// With the time so far.
  CleanupNote piece;
  std::chrono::milliseconds limit{0};
};

/// Says on stderr, in one line, which piece it is and that the wait goes on.
void warn_of_overtime(const Overtime& overtime) noexcept;

}  // namespace mishap
