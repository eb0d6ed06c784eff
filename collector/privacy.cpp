#include <mishap/collector/privacy.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <mutex>

namespace mishap::collector {
namespace {

struct AddedWord {
  std::array<char, Privacy::kMaxWordBytes> text{};
  std::size_t size = 0;
  std::string_view view() const noexcept { return {text.data(), size}; }
};

// Grows only; what a counter covers never changes, so that readers, signal
// handlers among them, take no lock.
constinit std::mutex adding;
constinit std::array<AddedWord, Privacy::kMaxWords> words{};
constinit std::atomic<std::size_t> word_count = 0;
constinit std::array<char, PATH_MAX> home{};
constinit std::atomic<std::size_t> home_size = 0;
constinit std::atomic<bool> host_hidden = false;

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

char small(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

AddedWord plain(std::string_view word) noexcept {
  AddedWord out;
  for (const char c : word) {
    if (is_letter_or_digit(c) && out.size < out.text.size()) {
      out.text[out.size++] = small(c);
    }
  }
  return out;
}

void add_word(std::string_view text) noexcept {
  const AddedWord word = plain(text);
  const std::size_t count = word_count.load();
  const auto end = words.begin() + static_cast<std::ptrdiff_t>(count);
  const bool known = std::any_of(
      words.begin(), end,
      [&](const AddedWord& other) { return other.view() == word.view(); });
  if (word.size == 0 || known || count == words.size()) return;
  words[count] = word;
  word_count.store(count + 1, std::memory_order_release);
}

void add_home() noexcept {
  const char* const value = getenv("HOME");
  std::string_view path = value == nullptr ? std::string_view() : value;
  while (path.ends_with('/')) path.remove_suffix(1);
  if (home_size.load() > 0 || path.empty() || path.size() > home.size()) return;
  std::copy(path.begin(), path.end(), home.begin());
  home_size.store(path.size(), std::memory_order_release);
}

std::vector<std::string> list_in(const char* variable) {
  const char* const value = getenv(variable);
  std::vector<std::string> items;
  std::string_view left = value == nullptr ? std::string_view() : value;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(','), left.size());
    if (end > 0) items.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return items;
}

// Whether the word stands at the beginning of `text`, - _ and . left out.
bool begins_with(std::string_view text, std::string_view word) noexcept {
  for (const char c : text) {
    if (word.empty()) return true;
    if (!is_letter_or_digit(c)) continue;
    if (small(c) != word.front()) return false;
    word.remove_prefix(1);
  }
  return word.empty();
}

}  // namespace

Privacy privacy_from_environment() {
  Privacy privacy;
  for (const std::string& what : list_in("MISHAP_PRIVATE")) {
    privacy.hide_home |= what == "home";
    privacy.hide_host |= what == "host";
  }
  privacy.secret_words = list_in("MISHAP_SECRET_WORDS");
  return privacy;
}

void hide(const Privacy& privacy) noexcept {
  if (privacy.hide_host) host_hidden.store(true);
  if (!privacy.hide_home && privacy.secret_words.empty()) return;
  const std::lock_guard lock(adding);
  if (privacy.hide_home) add_home();
  for (const std::string& word : privacy.secret_words) add_word(word);
}

bool hides_host() noexcept { return host_hidden.load(); }

std::string_view hidden_home() noexcept {
  return {home.data(), home_size.load(std::memory_order_acquire)};
}

bool has_added_secret_word(std::string_view name) noexcept {
  const std::size_t count = word_count.load(std::memory_order_acquire);
  for (; count > 0 && !name.empty(); name.remove_prefix(1)) {
    for (std::size_t i = 0; i < count; ++i) {
      if (begins_with(name, words[i].view())) return true;
    }
  }
  return false;
}

}  // namespace mishap::collector
