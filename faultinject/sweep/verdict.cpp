#include <mishap/faultinject/sweep/verdict.h>

#include <array>

namespace mishap::faultinject::sweep {
namespace {

constexpr std::array<std::string_view, kOutcomes> kWords = {
    "held",      "recovered",        "swallowed", "violated",
    "not_fired", "nondeterministic", "crashed",   "hung"};

}  // namespace

std::string_view to_string(Outcome outcome) {
  return kWords[static_cast<std::size_t>(outcome)];
}

std::optional<Outcome> outcome_from(std::string_view word) {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] == word) return static_cast<Outcome>(i);
  }
  return std::nullopt;
}

}  // namespace mishap::faultinject::sweep
