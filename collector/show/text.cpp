#include <mishap/collector/show/text.h>
#include <mishap/collector/utf8.h>

#include <array>
#include <cstdio>
#include <ctime>

namespace mishap::collector {
namespace {

template <typename... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  // U+0080 to U+009F: terminals obey these too.
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Utf8Step step = utf8_step(text);
    const std::string_view character = text.substr(0, step.size);
    text.remove_prefix(step.size);
    if (character == "\n" || (step.valid && !is_control(character))) {
      shown += character;
      continue;
    }
    if (character == "\t") {
      shown += "  ";
      continue;
    }
    for (const char byte : character) {
      shown += print("\\x%02x", static_cast<unsigned char>(byte));
    }
  }
  return shown;
}

std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  const std::string shown = printable(text);
  for (std::string_view rest = shown; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const std::string_view kept = clip_utf8(line, width);
    lines.push_back(std::string(kept) +
                    (kept.size() < line.size() ? " ..." : ""));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return lines;
}

std::string duration(std::int64_t micros) {
  if (micros < 1'000) return print("%d us", static_cast<int>(micros));
  const double millis = static_cast<double>(micros) / 1e3;
  if (millis < 1e3) return print("%.1f ms", millis);
  return print("%.1f s", millis / 1e3);
}

std::string bytes(std::int64_t count) {
  constexpr std::array<const char*, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (count < 1024) return print("%d bytes", static_cast<int>(count));
  double amount = static_cast<double>(count) / 1024;
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  return print("%.1f %s", amount, kUnits[unit]);
}

std::string utc(std::int64_t unix_nano) {
  const std::time_t seconds = unix_nano / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text;
  const std::size_t size =
      std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), size};
}

}  // namespace mishap::collector
