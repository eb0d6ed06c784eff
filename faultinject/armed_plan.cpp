#include <mishap/faultinject/armed_plan.h>
#include <mishap/faultinject/firing_label.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/faultinject/stable_hash.h>

#include <new>

namespace mishap::faultinject {

ArmedPlan::ArmedPlan(Plan plan, Scope scope)
    : plan_(std::move(plan)), scope_(scope) {
  const std::uint64_t seed = plan_.seed.value_or(0);
  for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
    rules_.emplace_back(plan_.rules[i], mix(seed + (i + 1) * kMixStep));
  }
  strikes_.reserve(16);
}

std::uint64_t ArmedPlan::count_hit(PointId point) noexcept {
  std::atomic<std::uint64_t>* count = hits_.make(point.value);
  if (count == nullptr) return 0;
  return count->fetch_add(1, std::memory_order_relaxed) + 1;
}

Strike ArmedPlan::ask(std::size_t rule, PointId point, std::uint64_t hit,
                      const HitContext& context) noexcept {
  Strike strike{point, hit, rule, nullptr};
  ArmedRule& armed = rules_[rule];
  if (!armed.matches(point)) return strike;
  const ArmedTerm* term = armed.choose(context);
  if (term != nullptr && term->action().kind != ActionKind::kOff) {
    strike.term = term;
  }
  return strike;
}

void ArmedPlan::record(const Strike& strike,
                       const HitContext& context) noexcept {
  rules_[strike.rule].fired.fetch_add(1, std::memory_order_relaxed);
  try {
    const std::lock_guard lock(mutex_);
    if (strikes_.size() < Scenario::kMaxFirings) strikes_.push_back(strike);
  } catch (const std::bad_alloc&) {
    // The counter and the label still tell of it.
  }
  const ActionKind kind = strike.term->action().kind;
  if (kind != ActionKind::kPrint && kind != ActionKind::kYield) {
    publish_label(name_of(strike.point), strike.hit, strike.term->action_text(),
                  plan_.seed.value_or(0), context.step, context.owner);
  }
}

std::uint64_t ArmedPlan::fired(std::size_t rule) const {
  return rules_.at(rule).fired.load(std::memory_order_relaxed);
}

std::vector<Firing> ArmedPlan::firings() const {
  std::vector<Firing> all;
  const std::lock_guard lock(mutex_);
  all.reserve(strikes_.size());
  for (const Strike& strike : strikes_) {
    const std::string& action = strike.term->action_text();
    all.push_back({strike.point, strike.hit, strike.rule,
                   strike.term->action().kind, action,
                   firing_spec(name_of(strike.point), strike.hit, action),
                   plan_.seed.value_or(0)});
  }
  return all;
}

}  // namespace mishap::faultinject
