#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/plan_check.h>
#include <mishap/faultinject/sweep/enumerate.h>
#include <mishap/faultinject/sweep/pairs.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace mishap::faultinject::sweep {
namespace {

bool is_chosen(const Hit& hit, const Options& options) {
  return !options.only_second ||
         (options.only_second->index == hit.index &&
          options.only_second->point == name_of(hit.point));
}

std::vector<PointId> head(const std::vector<PointId>& sequence,
                          std::size_t size) {
  const std::size_t end = std::min(size, sequence.size());
  return {sequence.begin(),
          sequence.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

void PairList::add(std::uint64_t first, bool first_is_heard,
                   const std::vector<Hit>& seconds) {
  if (seconds.empty()) return;
  firsts_.push_back({first, seconds_.size(), first_is_heard});
  seconds_.insert(seconds_.end(), seconds.begin(), seconds.end());
}

PairList::Pair PairList::at(std::uint64_t index) const {
  const Hit& second = seconds_.at(index);
  const auto after =
      std::upper_bound(firsts_.begin(), firsts_.end(), index,
                       [](std::uint64_t wanted, const First& first) {
                         return wanted < first.begin;
                       });
  const First& first = *std::prev(after);
  return {first.number, first.is_heard, second};
}

std::vector<Hit> hits_after(const Case& first,
                            const std::vector<PointId>& sequence) {
  const Term action = parse_action(first.action);
  struct Seen {
    std::uint64_t hits = 0;
    bool can_fail = false;
  };
  std::map<PointId, Seen> seen;
  std::vector<Hit> following;
  bool has_struck = false;
  for (const PointId point : sequence) {
    const auto [place, is_new] = seen.try_emplace(point);
    Seen& entry = place->second;
    if (is_new) {
      const bool fails_anyway =
          point == first.point && first.mode == Mode::kPersistent;
      entry.can_fail =
          !fails_anyway && cannot_take(name_of(point), action).empty();
    }
    ++entry.hits;
    if (has_struck && entry.can_fail) following.push_back({point, entry.hits});
    has_struck |= point == first.point && entry.hits == first.hit;
  }
  return following;
}

PairList scout_pairs(Subject& subject, Baseline& baseline,
                     const std::vector<Hit>& hits, const Options& options,
                     const std::function<void()>& after_each) {
  PairList pairs;
  const std::uint64_t singles = single_cases(hits, options);
  for (std::uint64_t number = 0; number < singles; ++number) {
    const Case first = case_at(baseline.entry_point, hits, options, number);
    const Scouted scouted = subject.scout(first);
    const std::size_t until =
        position_of(baseline.sequence, {first.point, first.hit}) + 1;
    if (same_until(baseline.sequence, scouted.sequence, until)) {
      std::vector<Hit> seconds = hits_after(first, scouted.sequence);
      std::erase_if(seconds, [&](const Hit& second) {
        return !is_chosen(second, options);
      });
      pairs.add(number, scouted.is_heard, seconds);
    } else if (baseline.difference.empty()) {
      baseline.difference = first_difference(head(baseline.sequence, until),
                                             head(scouted.sequence, until)) +
                            ", before its fault struck; likely cause: state "
                            "that grows from run to run";
    }
    after_each();
  }
  return pairs;
}

}  // namespace mishap::faultinject::sweep
