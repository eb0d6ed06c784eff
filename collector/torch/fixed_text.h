#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace mishap::collector {

/// As much of `text` as fits beside a NUL.
template <std::size_t N>
std::string_view fitting(std::string_view text, const std::array<char, N>&) {
  return text.substr(0, N - 1);
}

/// Copies as much of `text` as fits and ends it with a NUL.
template <std::size_t N>
void copy_text(std::string_view text, std::array<char, N>& target) {
  const std::string_view kept = fitting(text, target);
  *std::copy(kept.begin(), kept.end(), target.begin()) = '\0';
}

}  // namespace mishap::collector
