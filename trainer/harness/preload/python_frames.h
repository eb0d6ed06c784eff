#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mishap::preload {

/// A frame of Python's, while it runs.
struct PythonFrame {
  const char* file;
  const char* function;
  int line;
};

/// The calling thread's frames of Python, innermost first.
struct PythonFrames {
  static constexpr std::size_t kFrames = 48;

  std::array<PythonFrame, kFrames> frames;
  std::size_t size = 0;
  std::uint64_t hash = 0;

  /// Leaves it empty where the thread runs no Python, or another thread does at
  /// this moment.
  void take() noexcept;

  /// As lines "file:line function" among the texts; its number there.
  std::uint32_t keep() const noexcept;
};

/// A frame as that line, cut to `room`; what was written. The caller holds the
/// interpreter, and `frame` is one of its.
std::string_view write_python_frame(void* frame, std::array<char, 1024>& room);

}  // namespace mishap::preload
