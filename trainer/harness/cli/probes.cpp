#include <mishap/collector/pending_slot.h>
#include <mishap/collector/redact.h>
#include <mishap/collector/resolve/resolver.h>
#include <mishap/collector/resolve/symbolize.h>
#include <mishap/collector/run_facts.h>
#include <mishap/collector/sink.h>
#include <mishap/collector/throw_hook.h>
#include <mishap/collector/throw_site.h>
#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/trainer/harness/cli/child.h>
#include <mishap/trainer/harness/cli/probe_parts.h>
#include <mishap/trainer/harness/cli/probes.h>
#include <mishap/trainer/harness/cli/torch_part.h>
#include <mishap/trainer/harness/cli/values.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace mishap::cli {
namespace {

using Status = Finding::Status;

struct Thrown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr int kLineOfThrow = __LINE__ + 2;
[[gnu::noinline]] void throw_for_the_doctor() {
  throw Thrown("a throw that the doctor knows the place of");
}

Finding look_at_hook() {
  if (collector::hook_is_live()) {
    return {Status::kOk, "every throw is seen before the stack unwinds", ""};
  }
  return {Status::kFail, "throws are not seen, so stacks show the catch",
          "link mishap::guard into the executable itself"};
}

Finding look_at_names() {
  const collector::ThrowCaptureScope capture;
  collector::SymbolizedStack stack;
  try {
    throw_for_the_doctor();
  } catch (...) {
    if (const auto site =
            collector::find_throw_site(std::current_exception())) {
      stack = collector::symbolize(site->trace);
    }
  }
  const auto own = std::ranges::find_if(stack.frames, [](const auto& frame) {
    return frame.function.find("throw_for_the_doctor") !=
           std::string_view::npos;
  });
  const std::string by =
      " (" + std::string(collector::resolver_backend()) + ')';
  if (own == stack.frames.end()) {
    return {Status::kFail, "a function that threw was not named" + by,
            "build with -g and do not strip; records keep the addresses"};
  }
  if (own->line != kLineOfThrow) {
    return {Status::kWarn, "functions are named, lines are not" + by,
            "build with -g; records keep the addresses"};
  }
  return {Status::kOk, "functions and lines are found" + by, ""};
}

Finding look_at_folder() {
  if (const auto problem = collector::probe_folder(doctors_folder())) {
    const std::size_t advice = problem->find("; ");
    return {Status::kFail, problem->substr(0, advice),
            advice == std::string::npos ? "" : problem->substr(advice + 2)};
  }
  return {Status::kOk, doctors_folder() + " takes records", ""};
}

Finding look_at_slot() {
  collector::PendingSlot slot;
  if (!slot.open(doctors_folder(), "doctor")) {
    return {Status::kWarn,
            "no place for the record of a process that is killed: " +
                slot.problem(),
            "make the records folder or $XDG_RUNTIME_DIR writable"};
  }
  return {Status::kOk, "a process that is killed leaves a record", ""};
}

Finding look_at_signals() {
  std::string ignored;
  for (const auto& [signal, name] :
       {std::pair(SIGINT, "SIGINT"), std::pair(SIGTERM, "SIGTERM")}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) {
      ignored += ignored.empty() ? name : " and " + std::string(name);
    }
  }
  if (ignored.empty()) {
    return {Status::kOk, "SIGINT and SIGTERM can interrupt a run", ""};
  }
  return {Status::kWarn, ignored + " is ignored since before this process",
          "start programs with env --default-signal, not with nohup or & in a "
          "script"};
}

Finding look_at_faults() {
  try {
    const faultinject::PointId point = faultinject::intern("hook/step/doctor");
    const faultinject::Scenario armed =
        faultinject::arm(faultinject::Plan::parse(
                             "hook/step/doctor=1*throw(runtime, \"doctor\")"),
                         faultinject::Scope::thread());
    try {
      faultinject::hit(point);
    } catch (const std::runtime_error&) {
      return {Status::kOk, "faults strike when they are armed", ""};
    }
    return {Status::kFail, "an armed fault did not strike",
            "report this with the output of mishap --version"};
  } catch (const faultinject::PlanError& error) {
    return {Status::kWarn, error.what(),
            "build without -DMISHAP_NO_FAULT_POINTS=ON to inject faults"};
  }
}

Finding look_at_redaction() {
  constexpr const char* kName = "MISHAP_DOCTOR_TOKEN";
  setenv(kName, "in plain sight", 1);
  const collector::RunFacts facts = collector::RunFacts::gather();
  unsetenv(kName);
  collector::RunRow row;
  facts.fill(row);
  const auto kept = std::ranges::find(row.environment, std::string_view(kName),
                                      &collector::NameValue::name);
  if (kept != row.environment.end() && kept->value != collector::kRedacted) {
    return {Status::kFail, "a secret in the environment is recorded as it is",
            "report this with the output of mishap --version"};
  }
  return {Status::kOk, "secrets in environment and arguments are left out", ""};
}

Finding look_at_torch_part() {
  const std::string path = find_torch_part();
  if (path.empty()) {
    return {Status::kWarn, "mishap-torch is not beside this program",
            "build with LibTorch for run, points and sweep"};
  }
  try {
    const ChildResult result = run_child({path, "--version"}, {});
    if (result.status == 0) {
      return {Status::kOk,
              result.output.substr(0, result.output.find_last_not_of('\n') + 1),
              ""};
    }
    return {Status::kFail,
            path + " fails to start: " +
                result.errors.substr(0, result.errors.find('\n')),
            "install the LibTorch that it was built against"};
  } catch (const std::system_error& error) {
    return {Status::kFail, error.what(), "build Mishap again"};
  }
}

}  // namespace

std::string doctors_folder() {
  return absolute_path("the folder of records",
                       collector::records_folder("mishap-records"));
}

std::vector<Probe> standard_probes() {
  std::vector<Probe> probes = {
      {"throw hook", look_at_hook},       {"names and lines", look_at_names},
      {"records folder", look_at_folder}, {"pending slot", look_at_slot},
      {"signals", look_at_signals},       {"fault points", look_at_faults},
      {"redaction", look_at_redaction}};
  for (const auto& part :
       {probes_of_names(), probes_of_signals(), probes_of_machine()}) {
    probes.insert(probes.end(), part.begin(), part.end());
  }
  return probes;
}

Probe torch_part_probe() { return {"LibTorch part", look_at_torch_part}; }

std::string_view to_string(Finding::Status status) noexcept {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kWarn:
      return "warn";
    case Status::kFail:
      break;
  }
  return "fail";
}

}  // namespace mishap::cli
