#include <mishap/faultinject/active.h>
#include <mishap/faultinject/active_set.h>
#include <mishap/faultinject/armed_plan.h>
#include <mishap/faultinject/plan_check.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/faultinject/stderr_line.h>

#include <algorithm>
#include <stdexcept>

namespace mishap::faultinject {
namespace {

void announce_plan(const Plan& plan) {
  std::string from = plan.source.empty() ? "" : " from " + plan.source;
  const std::string seed = std::to_string(plan.seed.value_or(0));
  write_stderr_line(
      {"mishap: faults armed", from, " (seed ", seed, "): ", plan.to_string()});
}

}  // namespace

Scenario::Scenario() noexcept = default;
Scenario::Scenario(std::shared_ptr<ArmedPlan> armed) noexcept
    : armed_(std::move(armed)) {}
Scenario::~Scenario() { disarm(); }
Scenario::Scenario(Scenario&& other) noexcept = default;

Scenario& Scenario::operator=(Scenario&& other) noexcept {
  if (this != &other) {
    disarm();
    armed_ = std::move(other.armed_);
  }
  return *this;
}

void Scenario::disarm() noexcept {
  if (!is_armed()) return;
  armed_->disarm();
  deactivate(armed_.get());
}

bool Scenario::is_armed() const noexcept {
  return armed_ != nullptr && !armed_->is_disarmed();
}

const Plan& Scenario::plan() const {
  static const Plan empty;
  return armed_ == nullptr ? empty : armed_->plan();
}

std::uint64_t Scenario::fired(std::size_t rule) const {
  if (rule >= plan().rules.size()) {
    throw std::out_of_range("the plan has " +
                            std::to_string(plan().rules.size()) +
                            " rules, there is no rule " + std::to_string(rule));
  }
  return armed_->fired(rule);
}

std::uint64_t Scenario::fired() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < plan().rules.size(); ++i) sum += fired(i);
  return sum;
}

std::vector<Firing> Scenario::firings() const {
  return armed_ == nullptr ? std::vector<Firing>() : armed_->firings();
}

std::vector<std::size_t> Scenario::never_fired() const {
  std::vector<std::size_t> rules;
  for (std::size_t i = 0; i < plan().rules.size(); ++i) {
    const std::vector<Term>& terms = plan().rules[i].terms;
    const bool has_action =
        std::any_of(terms.begin(), terms.end(), [](const Term& term) {
          return term.action != ActionKind::kOff && term.count != 0;
        });
    if (has_action && fired(i) == 0) rules.push_back(i);
  }
  return rules;
}

std::vector<Problem> Scenario::unmatched(
    std::span<const std::string> known_names) const {
  return plan().unmatched(known_names);
}

Scenario arm(Plan plan, Scope scope, Announce announce) {
  if (status() == Status::kCompiledOut && !plan.rules.empty()) {
    throw PlanError(plan.source, {}, "this build has no fault points",
                    "configure it without MISHAP_NO_FAULT_POINTS");
  }
  check_against_program(plan);
  auto armed = std::make_shared<ArmedPlan>(std::move(plan), scope);
  Scenario scenario(armed);
  activate(std::move(armed));
  if (announce == Announce::kStderr) announce_plan(scenario.plan());
  return scenario;
}

void disarm_all() noexcept {
  const auto active = active_set();
  if (active == nullptr) return;
  for (const auto& plan : active->plans) {
    plan->disarm();
    deactivate(plan.get());
  }
}

std::size_t armed_count() noexcept {
#ifndef MISHAP_NO_FAULT_POINTS
  // Most processes: they pay neither for a lock nor for the registry.
  if (detail::listeners.load(std::memory_order_acquire) == 0) return 0;
#endif
  const auto active = active_set();
  if (active == nullptr) return 0;
  return static_cast<std::size_t>(
      std::count_if(active->plans.begin(), active->plans.end(),
                    [](const auto& plan) { return !plan->is_disarmed(); }));
}

Status status() noexcept {
#ifdef MISHAP_NO_FAULT_POINTS
  return Status::kCompiledOut;
#else
  return armed_count() > 0 ? Status::kArmed : Status::kDormant;
#endif
}

std::string_view to_string(Status status) noexcept {
  switch (status) {
    case Status::kCompiledOut:
      return "compiled_out";
    case Status::kDormant:
      return "dormant";
    case Status::kArmed:
      break;
  }
  return "armed";
}

}  // namespace mishap::faultinject
