#include <mishap/collector/privacy.h>
#include <mishap/collector/redact.h>

#include <algorithm>
#include <array>

namespace mishap::collector {
namespace {

struct Word {
  /// Without - and _, which names use at will.
  std::string_view text;
  /// The word may go on: "auth" is in "authorization".
  bool may_go_on = true;
};

// "tokens" and "tokenizer" are everyday words of training.
constexpr std::array<Word, 12> kSecretWords = {{{"password"},
                                                {"passwd"},
                                                {"secret"},
                                                {"token", false},
                                                {"apikey"},
                                                {"accesskey"},
                                                {"privatekey"},
                                                {"auth"},
                                                {"bearer"},
                                                {"credential"},
                                                {"cookie"},
                                                {"mysqlpwd"}}};

bool is_separator(char character) noexcept {
  return character == '-' || character == '_' || character == '.';
}

bool is_upper(char character) noexcept {
  return character >= 'A' && character <= 'Z';
}

bool is_lower(char character) noexcept {
  return character >= 'a' && character <= 'z';
}

char lower(char character) noexcept {
  return is_upper(character) ? static_cast<char>(character - 'A' + 'a')
                             : character;
}

// Whether the next character belongs to the same word: in "tokenizer" and
// "TOKENIZER" it does, in "tokenId" it does not.
bool goes_on(char last, char next) noexcept {
  return is_lower(next) || (is_upper(last) && is_upper(next));
}

// Whether `text` begins with the word, in any case and with separators in it.
bool begins_with(std::string_view text, const Word& word) noexcept {
  std::string_view left = word.text;
  char last = '\0';
  for (const char character : text) {
    if (left.empty()) return word.may_go_on || !goes_on(last, character);
    if (is_separator(character)) continue;
    if (lower(character) != left.front()) return false;
    left.remove_prefix(1);
    last = character;
  }
  return left.empty();
}

// A letter that begins none of the words costs one look.
constexpr auto kFirstOfWords = [] {
  std::array<bool, 256> first{};
  for (const Word& word : kSecretWords) {
    const char letter = word.text.front();
    first[static_cast<unsigned char>(letter)] = true;
    first[static_cast<unsigned char>(letter - 'a' + 'A')] = true;
  }
  return first;
}();

}  // namespace

bool is_secret_name(std::string_view name) noexcept {
  for (std::string_view rest = name; !rest.empty(); rest.remove_prefix(1)) {
    // Separators in front of a word are passed over one by one.
    if (!kFirstOfWords[static_cast<unsigned char>(rest.front())]) continue;
    const auto begins = [rest](const Word& word) {
      return begins_with(rest, word);
    };
    if (std::any_of(kSecretWords.begin(), kSecretWords.end(), begins)) {
      return true;
    }
  }
  return has_added_secret_word(name);
}

}  // namespace mishap::collector
