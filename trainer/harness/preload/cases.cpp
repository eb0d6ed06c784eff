#include <mishap/faultinject/stable_hash.h>
#include <mishap/trainer/harness/preload/agent.h>
#include <mishap/trainer/harness/preload/cases.h>
#include <mishap/trainer/harness/preload/private_table.h>

#include <algorithm>
#include <array>

namespace mishap::preload {
namespace {

constinit NumberTable<program::kCases * 2> first_at;
// Of each case, the next one at the same hit, plus one.
std::uint32_t* next_at = nullptr;
constinit std::array<bool, program::kPoints> has_cases{};

std::uint64_t key(std::uint32_t point, std::uint64_t hit) noexcept {
  return faultinject::mix(hit * program::kPoints + point) << 1;
}

bool is_at(const program::CaseEntry& entry, std::uint32_t point,
           std::uint64_t hit) noexcept {
  return entry.point == point && entry.hit == hit;
}

}  // namespace

bool read_cases() noexcept {
  const program::Control& control = *agent.control;
  const auto count = static_cast<std::uint32_t>(
      std::min<std::size_t>(control.case_count, program::kCases));
  next_at = make_private<std::uint32_t>(program::kCases);
  if (next_at == nullptr || !first_at.make()) {
    return false;
  }
  // From the back, so that each list is in the order of the plan.
  for (std::uint32_t i = count; i-- > 0;) {
    const program::CaseEntry& entry = control.cases[i];
    if (entry.point >= program::kPoints) {
      continue;
    }
    has_cases[entry.point] = true;
    const std::uint32_t next = first_case(entry.point, entry.hit);
    next_at[i] = next == kNoCase ? 0 : next + 1;
    first_at.add(key(entry.point, entry.hit), i);
  }
  return true;
}

std::uint32_t first_case(std::uint32_t point, std::uint64_t hit) noexcept {
  if (!has_cases[point]) {
    return kNoCase;
  }
  const std::uint32_t found = first_at.find(key(point, hit), kNoCase);
  return found != kNoCase && is_at(agent.control->cases[found], point, hit)
             ? found
             : kNoCase;
}

std::uint32_t next_case(std::uint32_t number) noexcept {
  return next_at[number] == 0 ? kNoCase : next_at[number] - 1;
}

}  // namespace mishap::preload
