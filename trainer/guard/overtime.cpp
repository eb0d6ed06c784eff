#include <mishap/trainer/guard/overtime.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace mishap {

void warn_of_overtime(const Overtime& overtime) noexcept {
  constexpr double kMicrosPerSecond = 1e6;
  constexpr double kMillisPerSecond = 1e3;
  const std::string_view component = overtime.piece.component.name();
  std::array<char, 512> line;
  const int size = std::snprintf(
      line.data(), line.size(),
      "mishap: %.*s: cleanup step %.*s%s%.*s has run for %.3g s, longer than "
      "its limit of %.3g s; it cannot be cancelled, the wait goes on\n",
      static_cast<int>(overtime.entry_point.size()),
      overtime.entry_point.data(), static_cast<int>(overtime.piece.step.size()),
      overtime.piece.step.data(), component.empty() ? "" : " of ",
      static_cast<int>(component.size()), component.data(),
      static_cast<double>(overtime.piece.micros) / kMicrosPerSecond,
      static_cast<double>(overtime.limit.count()) / kMillisPerSecond);
  if (size <= 0) {
    return;
  }
  const auto length = std::min(static_cast<std::size_t>(size), line.size() - 1);
  // Not through stdio: the piece may hang with its lock held.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(), length);
}

}  // namespace mishap
