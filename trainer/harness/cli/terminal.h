#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace mishap::cli {

/// Whether a person sees what is written there.
bool is_terminal(std::FILE* stream) noexcept;

/// A terminal, NO_COLOR is not set (no-color.org), and TERM is not "dumb".
bool wants_colour(std::FILE* stream) noexcept;

/// One line on stderr that is written over again and again, and gone at the end
/// of its life; nothing at all when stderr is no terminal.
class ProgressLine {
 public:
  ProgressLine() noexcept;
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether a call of show() now would show anything: at most ten times a
  /// second, so that callers need not make up the text.
  bool is_due() noexcept;
  void show(std::string_view text) noexcept;
  /// Makes room for other output.
  void clear() noexcept;

 private:
  bool is_on_;
  std::size_t width_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace mishap::cli
