#include <mishap/faultinject/active_set.h>
#include <mishap/faultinject/armed_plan.h>
#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/trace_buffer.h>

namespace mishap::faultinject {
namespace {

constinit thread_local bool is_inside_toolkit = false;

class InsideToolkit {
 public:
  InsideToolkit() { is_inside_toolkit = true; }
  ~InsideToolkit() { is_inside_toolkit = false; }
  InsideToolkit(const InsideToolkit&) = delete;
  InsideToolkit& operator=(const InsideToolkit&) = delete;
};

/// The strike that ends a hit, with the plan that keeps its term alive.
struct Ending {
  ArmedPlan* plan = nullptr;
  Strike strike;
};

void perform(ArmedPlan& plan, const Strike& strike) {
  const ArmedTerm& term = *strike.term;
  const std::string_view point = name_of(strike.point);
  const std::string text = term.text_at(point);
  term.action().perform(
      {point, text, term.number(), term.throw_type(), &plan.gate()});
}

/// Runs the actions that do not end the hit; returns the one that does.
Strike ask_rules(ArmedPlan& plan, PointId point, std::uint64_t hit,
                 const HitContext& context) {
  for (std::size_t rule = 0; rule < plan.plan().rules.size(); ++rule) {
    const Strike strike = plan.ask(rule, point, hit, context);
    if (strike.term == nullptr) continue;
    if (strike.term->action().then == Then::kEndOfHit) return strike;
    plan.record(strike, context);
    perform(plan, strike);
  }
  return {};
}

Directive finish(const Ending& ending, const HitContext& context) {
  const Strike& strike = ending.strike;
  ending.plan->record(strike, context);
  const ArmedTerm& term = *strike.term;
  if (term.action().perform == nullptr) {
    return {term.action().kind, term.number(),
            term.text_at(name_of(strike.point))};
  }
  perform(*ending.plan, strike);
  return {};
}

}  // namespace

Directive hit(PointId point, const HitContext& context) {
  if (is_inside_toolkit) return {};
  const InsideToolkit inside;
  const std::shared_ptr<const ActiveSet> active = active_set();
  if (active == nullptr) return {};
  for (const auto& trace : active->traces) trace->record(point, context);
  Ending ending;
  for (const auto& plan : active->plans) {
    if (!plan->covers(context)) continue;
    // Counted even behind an ending: a later plan's numbers stay true.
    const std::uint64_t number = plan->count_hit(point);
    if (ending.plan != nullptr) continue;
    const Strike strike = ask_rules(*plan, point, number, context);
    if (strike.term != nullptr) ending = {plan.get(), strike};
  }
  return ending.plan == nullptr ? Directive() : finish(ending, context);
}

Directive hit(PointId point) { return hit(point, current_context()); }

}  // namespace mishap::faultinject
