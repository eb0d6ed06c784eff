#include <mishap/faultinject/catalogue.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/plan_check.h>
#include <mishap/faultinject/stable_hash.h>
#include <mishap/faultinject/sweep/enumerate.h>

#include <algorithm>
#include <map>
#include <set>

namespace mishap::faultinject::sweep {
namespace {

bool selects(const std::vector<NamePattern>& patterns, PointId point) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const NamePattern& pattern) {
                       return pattern.selects(name_of(point));
                     });
}

bool is_chosen(PointId point, const Options& options) {
  if (options.only) return options.only->point == name_of(point);
  return options.points.empty() || selects(options.points, point);
}

}  // namespace

std::vector<Hit> chosen_hits(const std::vector<PointId>& sequence,
                             const Options& options) {
  struct Seen {
    bool is_chosen = false;
    std::uint64_t hits = 0;
  };
  std::map<PointId, Seen> seen;
  std::vector<Hit> hits;
  for (const PointId point : sequence) {
    const auto [place, is_new] = seen.try_emplace(point);
    Seen& entry = place->second;
    if (is_new) entry.is_chosen = is_chosen(point, options);
    ++entry.hits;
    if (entry.is_chosen &&
        (!options.only || options.only->index == entry.hits)) {
      hits.push_back({point, entry.hits});
    }
  }
  return hits;
}

std::uint64_t single_cases(const std::vector<Hit>& hits,
                           const Options& options) {
  return hits.size() * options.actions.size() * options.modes.size();
}

bool may_recover(PointId point, const Options& options) {
  return is_declared_recoverable(point) || selects(options.recovers, point);
}

Case case_at(std::string_view entry_point, const std::vector<Hit>& hits,
             const Options& options, std::uint64_t index) {
  const Mode mode = options.modes[index % options.modes.size()];
  index /= options.modes.size();
  const std::string& action = options.actions[index % options.actions.size()];
  index /= options.actions.size();
  const Hit& hit = hits.at(index);
  Case single = make_case(entry_point, hit.point, hit.index, action, mode);
  single.may_recover = may_recover(hit.point, options);
  return single;
}

std::vector<std::uint64_t> chosen_cases(std::uint64_t total,
                                        const Options& options) {
  const std::uint64_t wanted = std::min(total, options.budget.value_or(total));
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t i = 0; i < wanted; ++i) {
    if (i % options.shard.count != options.shard.index - 1) continue;
    // One of each of `wanted` stretches that together make up all cases; in
    // two parts, so that no product overflows.
    const auto boundary = [&](std::uint64_t n) {
      return n * (total / wanted) + n * (total % wanted) / wanted;
    };
    const std::uint64_t first = boundary(i);
    const std::uint64_t size = boundary(i + 1) - first;
    chosen.push_back(first + mix(options.seed + (i + 1) * kMixStep) % size);
  }
  return chosen;
}

void check_actions(const std::vector<Hit>& hits, const Options& options) {
  std::set<PointId> points;
  for (const Hit& hit : hits) points.insert(hit.point);
  for (const std::string& text : options.actions) {
    const Term term = parse_action(text);
    for (const PointId point : points) {
      const std::string reason = cannot_take(name_of(point), term);
      if (!reason.empty()) {
        throw PlanError("", {}, reason,
                        "sweep other actions, or choose the points that can");
      }
    }
  }
}

}  // namespace mishap::faultinject::sweep
