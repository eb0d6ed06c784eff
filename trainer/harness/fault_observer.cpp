#include <mishap/faultinject/active.h>
#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/hit_context.h>
#include <mishap/faultinject/point.h>
#include <mishap/trainer/harness/fault_observer.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>

namespace mishap {
namespace {

using faultinject::PointId;

// Point numbers of one component, each looked up at its first hit.
struct ComponentPoints {
  std::array<std::atomic<std::uint32_t>, 2 * kHookCount> number_plus_one{};
};

constexpr std::size_t kMaxComponents = 4096;
std::array<std::atomic<ComponentPoints*>, kMaxComponents> all_points;

PointId point_of(Hook hook, Component component, bool after) {
  std::atomic<ComponentPoints*>& entry = all_points[component.index()];
  ComponentPoints* points = entry.load(std::memory_order_acquire);
  if (points == nullptr) {
    auto made = std::make_unique<ComponentPoints>();
    if (entry.compare_exchange_strong(points, made.get())) {
      points = made.release();
    }
  }
  std::atomic<std::uint32_t>& number =
      points->number_plus_one[2 * static_cast<std::size_t>(hook) +
                              (after ? 1 : 0)];
  const std::uint32_t known = number.load(std::memory_order_relaxed);
  if (known != 0) {
    return PointId{known - 1};
  }
  std::string name = "hook/";
  name += to_string(hook);
  name += '/';
  name += component.name();
  if (after) {
    name += faultinject::kAfter;
  }
  const PointId point = faultinject::intern(name);
  number.store(point.value + 1, std::memory_order_relaxed);
  return point;
}

faultinject::HitContext context_of(const Run& run) {
  const Place& place = run.place();
  faultinject::HitContext context;
  context.entry_point = run.entry_point();
  context.stage = to_string(place.stage);
  context.epoch = place.epoch;
  context.batch = place.batch;
  context.step = place.step;
  context.owner = run.owner();
  return context;
}

// Points in user code ask for the context of the innermost run.
faultinject::HitContext context_of_current_run(void*) {
  const Run* run = Run::current();
  return run == nullptr ? faultinject::HitContext{} : context_of(*run);
}

[[gnu::noinline, gnu::cold]] void report(const Run& run, bool after) {
  const Place& place = run.place();
  faultinject::hit(point_of(place.hook, place.component, after),
                   context_of(run));
}

}  // namespace

void FaultObserver::on_enter(Run&) {
  thread_local const faultinject::ContextScope scope(context_of_current_run,
                                                     nullptr);
}

const std::atomic<std::uint32_t>* FaultObserver::calls_wanted() const noexcept {
  return &faultinject::listeners();
}

void FaultObserver::before(Run& run) {
  if (faultinject::active()) [[unlikely]] {
    report(run, false);
  }
}

void FaultObserver::after(Run& run) {
  if (faultinject::active()) [[unlikely]] {
    report(run, true);
  }
}

std::vector<std::string> hook_points(
    const std::vector<std::string>& components) {
  std::vector<std::string> names;
  names.reserve(2 * kHookCount * components.size());
  for (const std::string& component : components) {
    for (std::size_t i = 0; i < kHookCount; ++i) {
      std::string name = "hook/";
      name += to_string(static_cast<Hook>(i));
      name += '/';
      name += component;
      names.push_back(name);
      names.push_back(name + std::string(faultinject::kAfter));
    }
  }
  return names;
}

}  // namespace mishap
