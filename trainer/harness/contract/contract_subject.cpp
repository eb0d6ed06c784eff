#include <mishap/faultinject/hit_trace.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/point.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/faultinject/sweep/baseline.h>
#include <mishap/trainer/harness/capture/sinks.h>
#include <mishap/trainer/harness/contract/checkers.h>
#include <mishap/trainer/harness/contract/contract_subject.h>
#include <mishap/trainer/harness/contract/record_watch.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace mishap {
namespace {

using faultinject::HitTrace;
using faultinject::PointId;
using faultinject::sweep::Case;
using faultinject::sweep::Outcome;
using faultinject::sweep::Scouted;
using faultinject::sweep::Verdict;

constexpr std::size_t kTraceCapacity = 8192;

// While a case runs nothing may reach the terminal's or the test's handlers:
// a signal that a broken guard lets through must not end the sweep.
class SignalNet {
 public:
  SignalNet() {
    struct sigaction net {};
    net.sa_handler = [](int) {};
    sigaction(SIGINT, &net, &interrupt_);
    sigaction(SIGTERM, &net, &terminate_);
  }
  ~SignalNet() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  SignalNet(const SignalNet&) = delete;
  SignalNet& operator=(const SignalNet&) = delete;

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

int signal_of(std::string_view action) {
  return action == "interrupt(SIGINT)"    ? SIGINT
         : action == "interrupt(SIGTERM)" ? SIGTERM
                                          : 0;
}

struct HookPlace {
  Hook hook = Hook::kNone;
  Component component;
};

// Of a point that is a hook's; else empty.
HookPlace place_of(PointId point) {
  std::string_view name = faultinject::name_of(point);
  constexpr std::string_view kPrefix = "hook/";
  if (!name.starts_with(kPrefix)) {
    return {};
  }
  name.remove_prefix(kPrefix.size());
  if (name.ends_with(faultinject::kAfter)) {
    name.remove_suffix(faultinject::kAfter.size());
  }
  const std::size_t slash = name.find('/');
  return {hook_from_string(name.substr(0, slash)).value_or(Hook::kNone),
          Component::named(name.substr(slash + 1))};
}

// Fills where the errors of the faults are thrown, as far as that is at hooks.
void fill_places(const Case& failing, Observation& seen) {
  if (seen.signal != 0) {
    return;
  }
  HookPlace place = place_of(failing.point);
  if (failing.second) {
    const HookPlace second = place_of(failing.second->hit.point);
    if (!failing.second->first_is_heard) {
      place = second;
    } else if (!failing.second->may_recover) {
      seen.second_component = second.component;
    }
  }
  seen.hook = place.hook;
  seen.component = place.component;
}

}  // namespace

ContractSubject::ContractSubject(WorldFactory make_world,
                                 std::vector<std::string> entry_points,
                                 HarnessOptions options)
    : make_world_(std::move(make_world)),
      entry_points_(std::move(entry_points)),
      options_(std::move(options)) {
  options_.capture.report_on_stderr = false;
  // Its records are a data set: each counts.
  options_.capture.caps = collector::RecordCaps::none();
  // All pairs of a real task leave more than what is enough for a program.
  options_.capture.max_file_bytes = std::numeric_limits<std::int64_t>::max();
  // A piece that is late is noted all the same, without a thread for each run.
  options_.guard.on_overtime = nullptr;
}

std::vector<PointId> ContractSubject::baseline(std::string_view entry_point) {
  const SignalNet net;
  const std::unique_ptr<World> world = make_world_();
  HitTrace trace(faultinject::Scope::process());
  world->call(entry_point, options_);
  trace.stop();
  Clean& clean = clean_[std::string(entry_point)];
  clean.sequence = trace.sequence();
  clean.resources = Resources::sample(folder_for(options_.capture));
  return clean.sequence;
}

Scouted ContractSubject::scout(const Case& first) {
  const SignalNet net;
  HarnessOptions options = options_;
  options.capture.writes = false;
  std::size_t capacity =
      clean_.at(first.entry_point).sequence.size() + kTraceCapacity;
  while (true) {
    Scouted scouted;
    const std::unique_ptr<World> world = make_world_();
    HitTrace trace(faultinject::Scope::process(), capacity);
    const faultinject::Scenario armed = faultinject::arm(
        faultinject::Plan::parse(first.spec), faultinject::Scope::process());
    try {
      world->call(first.entry_point, options);
    } catch (...) {
      scouted.is_heard = true;
    }
    trace.stop();
    if (!trace.overflowed()) {
      scouted.sequence = trace.sequence();
      return scouted;
    }
    capacity = trace.hits();
  }
}

Verdict ContractSubject::run(const Case& failing) {
  const auto start = std::chrono::steady_clock::now();
  const SignalNet net;
  const Clean& clean = clean_.at(failing.entry_point);
  const std::string folder = folder_for(options_.capture);
  const std::unique_ptr<World> world = make_world_();
  std::vector<std::unique_ptr<Checker>> checkers =
      standard_checkers(&clean.resources, folder, options_.guard.cleanup_limit);
  std::ranges::move(world->checkers(), std::back_inserter(checkers));
  const std::vector<Component> components = world->components();
  const std::vector<Component> loggers = world->loggers();
  RecordWatch records(sink_for(options_.capture).records_path());

  Observation seen;
  seen.entry_point = failing.entry_point;
  seen.signal = signal_of(failing.action);
  seen.may_succeed = failing.may_succeed();
  fill_places(failing, seen);
  seen.components = components;
  seen.loggers = loggers;
  world->journal().clear();

  HitTrace trace(faultinject::Scope::process(),
                 std::max(kTraceCapacity, clean.sequence.size() + 1));
  std::optional<faultinject::Scenario> armed = faultinject::arm(
      faultinject::Plan::parse(failing.spec), faultinject::Scope::process());
  for (const auto& checker : checkers) {
    checker->before();
  }
  try {
    world->call(failing.entry_point, options_);
  } catch (...) {
    seen.caught = std::current_exception();
  }
  for (const auto& checker : checkers) {
    checker->after();
  }
  const bool fired = has_fired(failing, *armed);
  armed->disarm();
  trace.stop();

  const std::vector<RecordSeen> written = records.read_new();
  seen.records = written;
  seen.journal = world->journal().entries();

  Verdict verdict;
  if (const RecordSeen* const record = seen.own_record()) {
    verdict.record_id = record->record_id;
  }
  if (!fired) {
    verdict.outcome = Outcome::kNotFired;
    return verdict;
  }
  for (const auto& checker : checkers) {
    if (!checker->applies(seen)) {
      continue;
    }
    const std::string name(to_string(checker->clause()));
    if (std::ranges::find(verdict.checked, name) == verdict.checked.end()) {
      verdict.checked.push_back(name);
    }
    if (const auto broken = checker->judge(seen)) {
      if (std::ranges::find(verdict.violated, name) == verdict.violated.end()) {
        verdict.violated.push_back(name);
      }
      verdict.note += verdict.note.empty() ? "" : "; ";
      verdict.note += name + ": " + *broken;
    }
  }
  const std::vector<PointId> sequence = trace.sequence();
  const std::size_t position = faultinject::sweep::position_of(
      clean.sequence, {failing.point, failing.hit});
  if (!faultinject::sweep::same_until(clean.sequence, sequence, position + 1)) {
    verdict.outcome = Outcome::kNondeterministic;
  } else if (seen.caught == nullptr) {
    verdict.outcome = Outcome::kSwallowed;
  } else if (!verdict.violated.empty()) {
    verdict.outcome = Outcome::kViolated;
  }
  // What the spies noted keeps the exception, and so its tensors, alive.
  seen.caught = nullptr;
  world->journal().clear();
  verdict.micros = std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::steady_clock::now() - start)
                       .count();
  return verdict;
}

}  // namespace mishap
