#include <mishap/faultinject/environment.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/stderr_line.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/fault_option.h>
#include <mishap/trainer/harness/fault_observer.h>

#include <exception>
#include <optional>

namespace mishap::cli {
namespace {

using faultinject::Plan;
using faultinject::Scenario;

Plan plan_of(const std::string& option) {
  return Plan::parse(option, "--faults");
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

void check(const Plan& plan, const std::vector<std::string>& known) {
  const std::vector<faultinject::Problem> problems = plan.unmatched(known);
  if (!problems.empty()) {
    throw InputError(problems.front().message);
  }
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

void check_hook_names(const std::string& option,
                      const std::vector<std::string>& components) {
  const std::vector<std::string> known = hook_points(components);
  check(plan_of(option), known);
  if (const std::optional<Plan> plan = faultinject::plan_from_environment()) {
    check(*plan, known);
  }
}

}  // namespace mishap::cli
