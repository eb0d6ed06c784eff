#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mishap::collector {

/// Keeps the end of a text that comes in pieces: so many bytes and lines.
class TextTail {
 public:
  static constexpr std::size_t kBytes = 8192;
  static constexpr std::size_t kLines = 64;

  void add(std::string_view piece);

  /// The end of what came, from the beginning of a line on where that is among
  /// what is kept.
  std::string text() const;

 private:
  std::string kept_;
  bool is_cut_ = false;
};

}  // namespace mishap::collector
