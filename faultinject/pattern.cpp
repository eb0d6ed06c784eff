#include <mishap/faultinject/pattern.h>
#include <mishap/faultinject/point.h>

#include <span>
#include <stdexcept>

namespace mishap::faultinject {
namespace {

std::string_view next_level(std::string_view& rest) {
  const std::size_t slash = rest.find('/');
  const std::string_view level = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  return level;
}

bool levels_match(std::span<const std::string> pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == "**") {
    const auto rest = pattern.subspan(1);
    while (true) {
      if (levels_match(rest, name)) return true;
      if (name.empty()) return false;
      next_level(name);
    }
  }
  if (name.empty()) return false;
  const std::string_view level = next_level(name);
  return level_matches(pattern.front(), level) &&
         levels_match(pattern.subspan(1), name);
}

std::string_view without_after(std::string_view name) {
  return name.ends_with(kAfter) ? name.substr(0, name.size() - kAfter.size())
                                : name;
}

}  // namespace

NamePattern::NamePattern(std::string text) : text_(std::move(text)) {
  if (const auto problem = check_name(text_, NameKind::kPattern)) {
    throw std::invalid_argument("'" + text_ + "' is no pattern of points: " +
                                problem->what + "; " + problem->advice);
  }
  is_after_ = text_.ends_with(kAfter);
  has_glob_ = text_.find('*') != std::string::npos;
  std::string_view rest = without_after(text_);
  while (!rest.empty()) {
    const std::string_view level = next_level(rest);
    // Neighbouring '**' mean the same as one and would only cost time.
    if (level == "**" && !levels_.empty() && levels_.back() == "**") continue;
    levels_.emplace_back(level);
  }
}

bool NamePattern::matches(std::string_view name) const {
  return name.ends_with(kAfter) == is_after_ &&
         levels_match(levels_, without_after(name));
}

bool NamePattern::selects(std::string_view name) const {
  if (is_after_ && !name.ends_with(kAfter)) return false;
  return levels_match(levels_, without_after(name));
}

bool level_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace mishap::faultinject
