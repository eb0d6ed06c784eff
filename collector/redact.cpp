#include <mishap/collector/redact.h>

#include <algorithm>
#include <array>

namespace mishap::collector {
namespace {

// Without - and _, which names use at will.
constexpr std::array<std::string_view, 12> kSecretWords = {
    "password", "passwd", "secret",     "token",  "apikey",     "accesskey",
    "auth",     "bearer", "credential", "cookie", "privatekey", "mysqlpwd"};

bool is_separator(char character) noexcept {
  return character == '-' || character == '_' || character == '.';
}

char lower(char character) noexcept {
  return character >= 'A' && character <= 'Z'
             ? static_cast<char>(character - 'A' + 'a')
             : character;
}

// Whether `text` begins with the word, in any case and with separators in it.
bool begins_with(std::string_view text, std::string_view word) noexcept {
  for (const char character : text) {
    if (word.empty()) return true;
    if (is_separator(character)) continue;
    if (lower(character) != word.front()) return false;
    word.remove_prefix(1);
  }
  return word.empty();
}

}  // namespace

bool is_secret_name(std::string_view name) noexcept {
  for (; !name.empty(); name.remove_prefix(1)) {
    if (std::any_of(kSecretWords.begin(), kSecretWords.end(),
                    [name](std::string_view word) {
                      return begins_with(name, word);
                    })) {
      return true;
    }
  }
  return false;
}

}  // namespace mishap::collector
