#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace mishap::collector {

/// Deeper than anything of ours. Code that walks what it has read calls itself
/// for each level, and what it reads may be anything.
inline constexpr std::size_t kMaxJsonDepth = 64;

/// How deep lists and objects are nested in a text that is taken for JSON.
inline std::size_t json_depth(std::string_view text) noexcept {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      i += c == '\\' ? 1 : 0;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace mishap::collector
