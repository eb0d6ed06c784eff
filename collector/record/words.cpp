#include <mishap/collector/record/words.h>

#include <array>
#include <cstddef>

namespace mishap::collector {
namespace {

template <std::size_t kSize, typename Enum>
std::string_view word(const std::array<std::string_view, kSize>& words,
                      Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < kSize ? words[index] : std::string_view{};
}

constexpr std::array<std::string_view, 6> kKinds = {
    "error", "interrupt", "crash", "killed", "hang", "exit"};
constexpr std::array<std::string_view, 4> kPhases = {"loading", "running",
                                                     "exiting", "forked_child"};
constexpr std::array<std::string_view, 8> kOrigins = {{{},
                                                       "throw",
                                                       "catch",
                                                       "signal",
                                                       "terminate",
                                                       "watchdog",
                                                       "reported",
                                                       "fault"}};
constexpr std::array<std::string_view, 4> kCleanupOutcomes = {
    "ran", "failed", "skipped", "timed_out"};
constexpr std::array<std::string_view, 2> kWeightStates = {"consistent",
                                                           "partial"};
constexpr std::array<std::string_view, 3> kFaultStatuses = {"compiled_out",
                                                            "dormant", "armed"};
constexpr std::array<std::string_view, 6> kRunOutcomes = {
    "success", "failed", "interrupted", "crashed", "killed", "hung"};

}  // namespace

std::string_view to_string(RecordKind kind) noexcept {
  return word(kKinds, kind);
}

std::string_view to_string(ProcessPhase phase) noexcept {
  return word(kPhases, phase);
}

std::string_view to_string(StackOrigin origin) noexcept {
  return word(kOrigins, origin);
}

std::string_view to_string(CleanupOutcome outcome) noexcept {
  return word(kCleanupOutcomes, outcome);
}

std::string_view to_string(WeightState state) noexcept {
  return word(kWeightStates, state);
}

std::string_view to_string(FaultStatus status) noexcept {
  return word(kFaultStatuses, status);
}

std::string_view to_string(RunOutcome outcome) noexcept {
  return word(kRunOutcomes, outcome);
}

}  // namespace mishap::collector
