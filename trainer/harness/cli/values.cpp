#include <mishap/faultinject/suggestion.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/values.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <utility>

namespace mishap::cli {
namespace {

template <class Number>
bool read(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty();
}

std::string takes(std::string_view what, std::string_view wanted,
                  std::string_view text) {
  return std::string(what) + " takes " + std::string(wanted) + ", not '" +
         std::string(text) + "'";
}

std::string plain(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return std::string(
      text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

}  // namespace

std::uint64_t unsigned_number(std::string_view what, std::string_view text) {
  std::uint64_t value = 0;
  if (!read(text, value)) {
    throw InputError(
        takes(what, "a whole number from 0 to 18446744073709551615", text));
  }
  return value;
}

std::int64_t whole_number(std::string_view what, std::string_view text,
                          std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  if (!read(text, value) || value < low || value > high) {
    throw InputError(takes(what,
                           "a whole number from " + std::to_string(low) +
                               " to " + std::to_string(high),
                           text));
  }
  return value;
}

double number(std::string_view what, std::string_view text, double low,
              double high) {
  double value = 0;
  if (!read(text, value) || !(value >= low && value <= high)) {
    throw InputError(takes(
        what, "a number from " + plain(low) + " to " + plain(high), text));
  }
  return value;
}

std::string one_of(std::string_view what, const std::string& text,
                   std::span<const std::string_view> words) {
  if (std::ranges::find(words, text) != words.end()) {
    return text;
  }
  throw InputError(std::string(what) + " knows no '" + text + "'; " +
                   faultinject::did_you_mean(
                       text, words, "it takes " + faultinject::join(words)));
}

std::pair<std::string, std::string> assignment(std::string_view what,
                                               const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(takes(what, "name=value", text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string absolute_path(std::string_view what, const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) {
    throw InputError(std::string(what) + ": '" + path +
                     "' lies in a current folder that is gone; name an "
                     "absolute path");
  }
  return absolute.string();
}

std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string(what) +
         (count == 1 ? "" : "s");
}

std::vector<std::string> list(std::string_view text) {
  std::vector<std::string> items(1);
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted && c == '\\' && i + 1 < text.size()) {
      items.back() += c;
      items.back() += text[++i];
      continue;
    }
    is_quoted ^= c == '"';
    if (!is_quoted) {
      depth += c == '(' ? 1 : 0;
      depth -= c == ')' ? 1 : 0;
    }
    if (c == ',' && depth == 0 && !is_quoted) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  for (std::string& item : items) {
    item = trimmed(item);
  }
  std::erase(items, "");
  return items;
}

}  // namespace mishap::cli
