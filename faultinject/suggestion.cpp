#include <mishap/faultinject/suggestion.h>

#include <algorithm>
#include <vector>

namespace mishap::faultinject {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of prefixes: a swap looks two rows back.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string_view nearest(std::string_view word,
                         std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = (word.size() + 1) / 3 + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word,
                         std::span<const std::string_view> candidates,
                         std::string_view otherwise) {
  const std::string_view best = nearest(word, candidates);
  if (best.empty()) return std::string(otherwise);
  return "did you mean '" + std::string(best) + "'?";
}

std::string join(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace mishap::faultinject
