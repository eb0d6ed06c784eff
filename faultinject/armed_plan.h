#pragma once

#include <mishap/faultinject/armed_rule.h>
#include <mishap/faultinject/chunked.h>
#include <mishap/faultinject/firing.h>
#include <mishap/faultinject/pause_gate.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/scope.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace mishap::faultinject {

/// The term that strikes at a hit, and where it stands.
struct Strike {
  PointId point;
  /// Of the point, since arming, from 1.
  std::uint64_t hit = 0;
  std::size_t rule = 0;
  const ArmedTerm* term = nullptr;
};

/// A plan in force: its counters and what has fired. Shared between the
/// scenario that holds it and the hits that are under way.
class ArmedPlan {
 public:
  ArmedPlan(Plan plan, Scope scope);

  bool covers(const HitContext& context) const {
    return !gate_.is_open() && scope_.covers(context);
  }

  /// Counts the hit; returns its number.
  std::uint64_t count_hit(PointId point) noexcept;

  /// Asks rule number `rule` about the hit; no term: it does nothing.
  Strike ask(std::size_t rule, PointId point, std::uint64_t hit,
             const HitContext& context) noexcept;

  /// Puts a strike on record, before its action runs.
  void record(const Strike& strike, const HitContext& context) noexcept;

  void disarm() noexcept { gate_.open(); }
  bool is_disarmed() const noexcept { return gate_.is_open(); }

  const Plan& plan() const { return plan_; }
  PauseGate& gate() { return gate_; }
  std::uint64_t fired(std::size_t rule) const;
  std::vector<Firing> firings() const;

 private:
  const Plan plan_;
  const Scope scope_;
  PauseGate gate_;
  std::deque<ArmedRule> rules_;
  Chunked<std::atomic<std::uint64_t>> hits_;
  mutable std::mutex mutex_;
  std::vector<Strike> strikes_;
};

}  // namespace mishap::faultinject
