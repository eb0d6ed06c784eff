#include <mishap/collector/privacy.h>
#include <mishap/collector/redact.h>
#include <mishap/collector/redact_text.h>

#include <algorithm>
#include <array>

namespace mishap::collector {
namespace {

constexpr std::size_t kMaxNameBytes = 64;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_alnum(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name(char c) noexcept {
  return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

bool is_quote(char c) noexcept { return c == '"' || c == '\''; }

char at(std::string_view text, std::size_t index) noexcept {
  return index < text.size() ? text[index] : '\0';
}

char before(std::string_view text, std::size_t index) noexcept {
  return index == 0 ? '\0' : text[index - 1];
}

std::size_t end_of_word(std::string_view text, std::size_t begin) noexcept {
  constexpr std::string_view kEnds = " \t\n\r\"',;&)]}";
  return std::min(text.find_first_of(kEnds, begin), text.size());
}

// The quote that closes one which stands in front of `begin`.
std::size_t end_of_quoted(std::string_view text, std::size_t begin,
                          char quote) noexcept {
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      return i;
    }
  }
  return text.size();
}

std::size_t end_of_line(std::string_view text, std::size_t begin) noexcept {
  return std::min(text.find_first_of("\n\r\"", begin), text.size());
}

std::optional<Secret> secret(std::size_t begin, std::size_t end) noexcept {
  if (begin >= end) return std::nullopt;
  return Secret{begin, end, kRedacted};
}

bool contains(std::string_view name, std::string_view word) noexcept {
  const auto equal = [](char a, char b) { return (a | 0x20) == b; };
  return std::search(name.begin(), name.end(), word.begin(), word.end(),
                     equal) != name.end();
}

// The value that begins at `begin` or behind blanks.
std::optional<Secret> value_of(std::string_view text, std::string_view name,
                               std::size_t begin) noexcept {
  while (at(text, begin) == ' ') ++begin;
  if (text.substr(begin).starts_with(kRedacted)) return std::nullopt;
  const char first = at(text, begin);
  if (is_quote(first)) {
    return secret(begin + 1, end_of_quoted(text, begin + 1, first));
  }
  // These are made of several words.
  if (contains(name, "cookie") || contains(name, "authorization")) {
    return secret(begin, end_of_line(text, begin));
  }
  return secret(begin, end_of_word(text, begin));
}

// `name=value` and `name: value`, with the = or : at `middle`.
std::optional<Secret> named_value(std::string_view text,
                                  std::size_t middle) noexcept {
  const bool colon = text[middle] == ':';
  if (colon && (at(text, middle + 1) == ':' || before(text, middle) == ':')) {
    return std::nullopt;
  }
  std::size_t end = middle;
  while (before(text, end) == ' ') --end;
  const bool quoted_name = is_quote(before(text, end));
  if (quoted_name) --end;
  std::size_t begin = end;
  while (begin > 0 && is_name(text[begin - 1]) && end - begin < kMaxNameBytes) {
    --begin;
  }
  const std::string_view name = text.substr(begin, end - begin);
  // `token.cpp:12` is a place.
  if (colon && is_digit(at(text, middle + 1)) && name.find('.') < name.size()) {
    return std::nullopt;
  }
  if (!is_secret_name(name)) return std::nullopt;
  // 'password=a b' is quoted with its name.
  const char around = before(text, begin);
  if (!quoted_name && is_quote(around) && !is_quote(at(text, middle + 1))) {
    return secret(middle + 1, end_of_quoted(text, middle + 1, around));
  }
  return value_of(text, name, middle + 1);
}

// `--token value`, with the first - at `begin`.
std::optional<Secret> option_value(std::string_view text,
                                   std::size_t begin) noexcept {
  std::size_t end = begin;
  while (is_name(at(text, end)) && end - begin < kMaxNameBytes) ++end;
  const std::string_view name = text.substr(begin, end - begin);
  if (at(text, end) != ' ' || at(text, end + 1) == '-' ||
      !is_secret_name(name)) {
    return std::nullopt;
  }
  return value_of(text, name, end);
}

// `scheme://user:password@host`, with the colon at `colon`.
std::optional<Secret> user_in_url(std::string_view text,
                                  std::size_t colon) noexcept {
  const std::size_t begin = colon + 3;
  const std::size_t end =
      std::min(text.find_first_of(" \t\n\r\"'/?#", begin), text.size());
  const std::size_t host = text.substr(0, end).rfind('@');
  if (host == std::string_view::npos || host <= begin) return std::nullopt;
  return secret(begin, host);
}

struct Form {
  std::string_view prefix;
  std::size_t least;
};

// Prefix, and the least number of letters, digits, _ and - behind it.
constexpr std::array<Form, 17> kForms = {{{"AKIA", 16},
                                          {"ASIA", 16},
                                          {"AIza", 30},
                                          {"eyJ", 40},
                                          {"ghp_", 20},
                                          {"gho_", 20},
                                          {"ghu_", 20},
                                          {"ghs_", 20},
                                          {"ghr_", 20},
                                          {"github_pat_", 20},
                                          {"glpat-", 16},
                                          {"hf_", 20},
                                          {"sk-", 20},
                                          {"xoxa-", 10},
                                          {"xoxb-", 10},
                                          {"xoxp-", 10},
                                          {"xoxs-", 10}}};

// Most words begin with a letter that begins none of the forms.
constexpr auto kFirstOfForms = [] {
  std::array<bool, 256> first{};
  for (const Form& form : kForms) {
    first[static_cast<unsigned char>(form.prefix.front())] = true;
  }
  return first;
}();

std::optional<Secret> known_form(std::string_view text,
                                 std::size_t begin) noexcept {
  if (!kFirstOfForms[static_cast<unsigned char>(text[begin])]) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(begin);
  for (const Form& form : kForms) {
    if (!rest.starts_with(form.prefix)) continue;
    std::size_t end = form.prefix.size();
    // The dots are those of a JSON web token.
    while (is_name(at(rest, end))) ++end;
    if (end - form.prefix.size() >= form.least) {
      return secret(begin, begin + end);
    }
  }
  return std::nullopt;
}

std::optional<Secret> private_key(std::string_view text,
                                  std::size_t begin) noexcept {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kEnd = "-----END ";
  if (!text.substr(begin).starts_with(kBegin)) return std::nullopt;
  const std::size_t dashes = text.find("-----", begin + kBegin.size());
  const std::string_view name =
      text.substr(begin, std::min(dashes, text.size()) - begin);
  if (name.find("PRIVATE KEY") == std::string_view::npos) return std::nullopt;
  return secret(begin, std::min(text.find(kEnd, begin), text.size()));
}

// Sixteen digits of the known issuers (fifteen of one) with the right sum.
std::optional<Secret> card_number(std::string_view text,
                                  std::size_t begin) noexcept {
  constexpr std::size_t kMaxDigits = 16;
  std::array<int, kMaxDigits> digits{};
  std::size_t count = 0;
  std::size_t end = begin;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (is_digit(c)) {
      if (count == kMaxDigits) return std::nullopt;
      digits[count++] = c - '0';
    } else if ((c != ' ' && c != '-') || !is_digit(at(text, end + 1)) ||
               count % 4 != 0) {
      break;
    }
  }
  if (is_alnum(at(text, end)) || at(text, end) == '_') return std::nullopt;
  const bool known = count == 16 ? digits[0] >= 2 && digits[0] <= 6
                                 : count == 15 && digits[0] == 3;
  if (!known) return std::nullopt;
  int sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int digit = digits[count - 1 - i];
    const int doubled = i % 2 == 1 ? 2 * digit : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 == 0 ? secret(begin, end) : std::nullopt;
}

std::optional<Secret> at_start_of_word(std::string_view text,
                                       std::size_t begin) noexcept {
  const char c = text[begin];
  if (c == '-') {
    auto found = private_key(text, begin);
    return found ? found : option_value(text, begin);
  }
  return is_digit(c) ? card_number(text, begin) : known_form(text, begin);
}

// Whether a home folder that begins at `begin` stands between the quotes of a
// shell's word.
bool is_quoted(std::string_view text, std::size_t begin) noexcept {
  return std::count(text.begin(),
                    text.begin() + static_cast<std::ptrdiff_t>(begin), '\'') %
             2 ==
         1;
}

std::optional<Secret> home_at(std::string_view text, std::size_t begin,
                              std::string_view home, TextKind kind) noexcept {
  if (home.empty() || !text.substr(begin).starts_with(home)) {
    return std::nullopt;
  }
  const std::size_t end = begin + home.size();
  if (is_name(before(text, begin)) || is_name(at(text, end))) {
    return std::nullopt;
  }
  std::string_view stand_in = "~";
  if (kind == TextKind::kCommand) {
    stand_in = is_quoted(text, begin) ? "'\"$HOME\"'" : "\"$HOME\"";
  }
  return Secret{begin, end, stand_in};
}

}  // namespace

std::optional<Secret> next_secret(std::string_view text, std::size_t from,
                                  TextKind kind) noexcept {
  const std::string_view home = hidden_home();
  if (kind == TextKind::kPath && home.empty()) return std::nullopt;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    std::optional<Secret> found;
    if (c == '/') {
      found = home_at(text, i, home, kind);
    } else if (kind == TextKind::kPath) {
      continue;
    } else if (c == '=' || c == ':') {
      found = text.substr(i).starts_with("://") ? user_in_url(text, i)
                                                : named_value(text, i);
    } else if ((is_alnum(c) || c == '-') && !is_name(before(text, i))) {
      found = at_start_of_word(text, i);
    }
    // A value behind what was replaced already is not looked at again.
    if (found && found->begin >= from) return found;
  }
  return std::nullopt;
}

std::string redacted(std::string_view text, TextKind kind) {
  std::string out;
  std::size_t done = 0;
  while (const auto found = next_secret(text, done, kind)) {
    out += text.substr(done, found->begin - done);
    out += found->stand_in;
    done = found->end;
  }
  return out += text.substr(done);
}

}  // namespace mishap::collector
