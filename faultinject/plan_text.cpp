#include <mishap/faultinject/filter_keys.h>
#include <mishap/faultinject/plan.h>

#include <algorithm>
#include <charconv>

namespace mishap::faultinject {
namespace {

bool is_plain(std::string_view text) {
  return !text.empty() && text.find("->") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') ||
                  std::string_view("_.:+-/").find(c) != std::string_view::npos;
         });
}

// Only printable ASCII comes out: a plan's text goes into logs, shells and
// JSON.
std::string value_text(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte >= 0x7f) {
      quoted += "\\x";
      quoted += kHex[byte >> 4];
      quoted += kHex[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string percent_text(double percent) {
  // The smallest double needs 326 places.
  char digits[400];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), percent,
                                 std::chars_format::fixed)
                       .ptr;
  return std::string(std::begin(digits), end) + "%";
}

std::string filter_text(const Filter& filter) {
  const FilterInfo& info = filter_info(filter.key);
  std::string text = "[" + std::string(info.word) + " ";
  if (info.value == FilterValue::kText) {
    text += value_text(filter.text);
  } else {
    text += std::to_string(filter.first);
    if (info.value == FilterValue::kRange && filter.last != filter.first) {
      text += ".." + std::to_string(filter.last);
    }
  }
  return text + "]";
}

}  // namespace

std::string action_text(const Term& term) {
  std::string text(action(term.action).word);
  if (term.arguments.empty()) return text;
  text += '(';
  for (std::size_t i = 0; i < term.arguments.size(); ++i) {
    if (i > 0) text += ',';
    text += value_text(term.arguments[i]);
  }
  return text + ')';
}

std::string to_string(const Term& term) {
  std::string text;
  if (term.percent) text += percent_text(*term.percent);
  if (term.count) text += std::to_string(*term.count) + "*";
  text += action_text(term);
  for (const Filter& filter : term.filters) text += filter_text(filter);
  return text;
}

std::string Plan::to_string() const {
  std::string text;
  if (seed) text += "seed=" + std::to_string(*seed);
  for (const Rule& rule : rules) {
    if (!text.empty()) text += ';';
    text += rule.name.text() + "=";
    for (std::size_t i = 0; i < rule.terms.size(); ++i) {
      if (i > 0) text += "->";
      text += faultinject::to_string(rule.terms[i]);
    }
  }
  return text;
}

}  // namespace mishap::faultinject
