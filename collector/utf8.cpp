#include <mishap/collector/utf8.h>

#include <cstdint>

namespace mishap::collector {
namespace {

// Table 3-7 of the Unicode standard: how many bytes follow a lead byte, and
// the range of the first of them; the others are 80..BF.
struct Lead {
  std::size_t following = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xbf;
};

Lead lead_of(std::uint8_t byte) noexcept {
  if (byte >= 0xc2 && byte <= 0xdf) return {1};
  if (byte == 0xe0) return {2, 0xa0, 0xbf};
  if (byte == 0xed) return {2, 0x80, 0x9f};
  if (byte >= 0xe1 && byte <= 0xef) return {2};
  if (byte == 0xf0) return {3, 0x90, 0xbf};
  if (byte >= 0xf1 && byte <= 0xf3) return {3};
  if (byte == 0xf4) return {3, 0x80, 0x8f};
  return {0};
}

}  // namespace

Utf8Step utf8_step(std::string_view text) noexcept {
  const auto first = static_cast<std::uint8_t>(text.front());
  if (first < 0x80) return {1, true};
  const Lead lead = lead_of(first);
  if (lead.following == 0) return {1, false};
  std::uint8_t low = lead.low;
  std::uint8_t high = lead.high;
  for (std::size_t i = 1; i <= lead.following; ++i) {
    if (i == text.size()) return {i, false};
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if (byte < low || byte > high) return {i, false};
    low = 0x80;
    high = 0xbf;
  }
  return {lead.following + 1, true};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const Utf8Step step = utf8_step(text);
    if (!step.valid) return false;
    text.remove_prefix(step.size);
  }
  return true;
}

std::string_view clip_utf8(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  // A character has at most four bytes, so its lead is at most three back.
  for (std::size_t back = 1; back <= 3 && back <= limit; ++back) {
    const std::size_t start = limit - back;
    const auto byte = static_cast<std::uint8_t>(text[start]);
    if ((byte & 0xc0) == 0x80) continue;
    const Utf8Step step = utf8_step(text.substr(start));
    return text.substr(0, step.valid && step.size > back ? start : limit);
  }
  return text.substr(0, limit);
}

}  // namespace mishap::collector
