#include <mishap/faultinject/environment.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/stderr_line.h>
#include <mishap/faultinject/suggestion.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/fault_option.h>
#include <mishap/trainer/harness/fault_observer.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>

namespace mishap::cli {
namespace {

using faultinject::Plan;
using faultinject::Scenario;

Plan plan_of(const std::string& option) {
  Plan plan = Plan::parse(option, "--faults");
  if (plan.rules.empty()) {
    throw InputError("--faults: '" + option +
                     "' holds no fault; write one as "
                     "'hook/training_step/module=throw(runtime)'");
  }
  return plan;
}

Scenario arm_option(const std::string& option) {
  return option.empty()
             ? Scenario()
             : faultinject::arm(plan_of(option), faultinject::Scope::process(),
                                faultinject::Announce::kStderr);
}

void report_never_fired(const Scenario& scenario) {
  for (const std::size_t rule : scenario.never_fired()) {
    faultinject::write_stderr_line(
        {"mishap: the fault at '", scenario.plan().rules[rule].name.text(),
         "' was armed and never struck; 'mishap points' lists what is hit how "
         "often"});
  }
}

void check_entry_points(const Plan& plan,
                        const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const faultinject::Rule& rule : plan.rules) {
    for (const faultinject::Term& term : rule.terms) {
      for (const faultinject::Filter& filter : term.filters) {
        if (filter.key != faultinject::FilterKey::kEntry ||
            std::ranges::find(names, filter.text) != names.end()) {
          continue;
        }
        const faultinject::PlanError error(
            plan.source, term.place,
            "there is no entry point '" + filter.text + "'",
            faultinject::did_you_mean(
                filter.text, names,
                "the entry points are " + faultinject::join(names)));
        throw InputError(error.what());
      }
    }
  }
}

void check(const Plan& plan, const std::vector<std::string>& points,
           const std::vector<std::string>& entry_points) {
  const std::vector<faultinject::Problem> problems = plan.unmatched(points);
  if (!problems.empty()) {
    throw InputError(problems.front().message);
  }
  check_entry_points(plan, entry_points);
}

}  // namespace

ArmedFaults::ArmedFaults(const std::string& option)
    : environment_(faultinject::arm_from_environment()),
      option_(arm_option(option)) {}

ArmedFaults::~ArmedFaults() {
  try {
    report_never_fired(environment_);
    report_never_fired(option_);
  } catch (const std::exception&) {
    // Out of memory: what matters more has been told.
  }
}

void check_fault_names(const std::string& option,
                       const std::vector<std::string>& components,
                       const std::vector<std::string>& entry_points) {
  const std::vector<std::string> points = hook_points(components);
  if (!option.empty()) {
    check(plan_of(option), points, entry_points);
  }
  if (const std::optional<Plan> plan = faultinject::plan_from_environment()) {
    check(*plan, points, entry_points);
  }
}

}  // namespace mishap::cli
