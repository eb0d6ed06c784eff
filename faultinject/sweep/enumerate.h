#pragma once

#include <mishap/faultinject/sweep/baseline.h>
#include <mishap/faultinject/sweep/case.h>
#include <mishap/faultinject/sweep/options.h>

#include <cstdint>
#include <vector>

namespace mishap::faultinject::sweep {

/// The hits whose points the options choose, in order.
std::vector<Hit> chosen_hits(const std::vector<PointId>& sequence,
                             const Options& options);

/// Hits × actions × modes.
std::uint64_t single_cases(const std::vector<Hit>& hits,
                           const Options& options);

/// Whether a run may succeed although a fault strikes there: declared at the
/// point or by `options.recovers`.
bool may_recover(PointId point, const Options& options);

/// The case at `index` of hits × actions × modes, the modes varying fastest.
Case case_at(std::string_view entry_point, const std::vector<Hit>& hits,
             const Options& options, std::uint64_t index);

/// Which of `total` cases this sweep runs: all, or the budget's even spread,
/// and of those the shard's part. The parts of all shards are disjoint and
/// together complete.
std::vector<std::uint64_t> chosen_cases(std::uint64_t total,
                                        const Options& options);

/// @throws PlanError for an action that can't be read, or that a point among
/// `hits` can't take.
void check_actions(const std::vector<Hit>& hits, const Options& options);

}  // namespace mishap::faultinject::sweep
