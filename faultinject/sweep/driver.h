#pragma once

#include <mishap/faultinject/sweep/options.h>
#include <mishap/faultinject/sweep/subject.h>
#include <mishap/faultinject/sweep/summary.h>

#include <cstdint>
#include <functional>

namespace mishap::faultinject::sweep {

/// Told after every case.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t planned = 0;
  const Case& failing;
  const Verdict& verdict;
  /// Not held, not recovered, not known.
  bool is_bad = false;
};
using ProgressFunction = std::function<void(const Progress&)>;

/// Fails every chosen hit of every chosen entry point, one a run, and says what
/// became of each.
///
/// For each entry point: the baseline twice; every hit × action × mode; and for
/// each point one run with the fault behind its last hit, which must not fire.
/// With `options.pairs` the cases are pairs instead: hit × action × mode is run
/// once to see which hits follow it until the call returns, and each of those
/// is failed as well, by the same action, once. Budget and shard are taken from
/// all pairs of all entry points.
///
/// Of a case at points where the run may recover (declared there or by
/// `options.recovers`), kSwallowed becomes kRecovered, or kViolated if a clause
/// is broken too. A pair may recover only if both points may. If the first
/// fault alone never comes out, its point must be one that may recover: else
/// the pair is kSwallowed even if its second error comes out.
///
/// Writes cases.jsonl as it goes and summary.json at the end. What the subject
/// throws ends the sweep and is passed on.
/// @throws SweepError, PlanError for options that make no sense.
Summary run_sweep(Subject& subject, const Options& options,
                  const ProgressFunction& progress = {});

}  // namespace mishap::faultinject::sweep
