#include <mishap/collector/show/page.h>

#include <algorithm>
#include <utility>

namespace mishap::collector {

std::size_t Page::Section::height() const {
  if (lines.empty()) return 0;
  return lines.size() + (title.empty() ? 0 : 1) + (left_out > 0 ? 1 : 0);
}

Page::Section& Page::add(std::string title) {
  sections_.emplace_back().title = std::move(title);
  return sections_.back();
}

std::string Page::colour(std::string_view code, const std::string& text) const {
  if (!colour_) return text;
  return "\x1b[" + std::string(code) + "m" + text + "\x1b[0m";
}

void Page::shorten(std::size_t max_lines) {
  const auto height = [this] {
    std::size_t sum = 0;
    for (const Section& section : sections_) sum += section.height();
    return sum;
  };
  while (height() > max_lines) {
    const auto longest =
        std::max_element(sections_.begin(), sections_.end(),
                         [](const Section& left, const Section& right) {
                           return left.lines.size() < right.lines.size();
                         });
    if (longest->lines.size() <= 1) return;
    longest->lines.erase(longest->keep_last ? longest->lines.begin()
                                            : longest->lines.end() - 1);
    ++longest->left_out;
  }
}

std::string Page::text() const {
  std::string text;
  for (const Section& section : sections_) {
    if (section.lines.empty()) continue;
    const std::string left_out =
        section.left_out == 0
            ? ""
            : "  ... " + std::to_string(section.left_out) + " more\n";
    if (!section.title.empty()) text += colour("36", section.title) + "\n";
    if (section.keep_last) text += left_out;
    for (const std::string& line : section.lines) text += line + "\n";
    if (!section.keep_last) text += left_out;
  }
  return text;
}

}  // namespace mishap::collector
