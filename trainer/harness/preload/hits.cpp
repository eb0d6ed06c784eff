#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/stable_hash.h>
#include <mishap/trainer/harness/preload/cases.h>
#include <mishap/trainer/harness/preload/fork_at_hit.h>
#include <mishap/trainer/harness/preload/hit_stack.h>
#include <mishap/trainer/harness/preload/hits.h>
#include <mishap/trainer/harness/preload/points.h>
#include <unistd.h>

namespace mishap::preload {
namespace {

/// A hit that this process knows.
struct Hit {
  std::uint32_t point = kNoPoint;
  std::uint32_t path = program::kNoText;
  std::uint64_t number = 0;
};

std::uint64_t count(const Hit& hit, const HitStack& stack) noexcept {
  program::Control& control = *agent.control;
  const std::uint64_t number = control.points[hit.point].hits.fetch_add(1) + 1;
  control.hits.fetch_add(1, std::memory_order_relaxed);
  if (is_main_thread()) {
    control.sequence_hash.store(faultinject::chain_hash(
        control.sequence_hash.load(std::memory_order_relaxed), stack.hash));
  }
  count_stack(stack, hit.point, number, hit.path);
  return number;
}

// True in the child that is to fail here.
bool fork_for_cases(const Hit& hit, const HitStack& stack) noexcept {
  for (std::uint32_t number = first_case(hit.point, hit.number);
       number != kNoCase; number = next_case(number)) {
    if (fork_at_hit(number)) {
      set_fault(number);
      tell_strike(hit.point, hit.number, stack, hit.path);
      return true;
    }
  }
  return false;
}

// Whether this process fails now.
bool look(Hit hit, const void* caller) noexcept {
  const Inside inside;
  if (hit.point == kNoPoint) {
    return false;
  }
  const bool is_after = has_struck();
  if (is_after && !strikes_again(hit.point)) {
    return false;
  }
  HitStack stack;
  stack.take(hit.point, caller);
  if (stack.is_of_loader) {
    return false;
  }
  if (is_after) {
    return true;
  }
  hit.number = count(hit, stack);
  switch (agent.mode) {
    case program::Mode::kCount:
      return false;
    case program::Mode::kFork:
      return fork_for_cases(hit, stack);
    case program::Mode::kSingle:
      if (!is_first_hit(hit.point, hit.number)) {
        return false;
      }
      tell_strike(hit.point, hit.number, stack, hit.path);
      return true;
  }
  return false;
}

Strike ask_plan(std::uint32_t point) {
  if (point == kNoPoint) {
    return {};
  }
  const faultinject::Directive directive = faultinject::hit(plan_point(point));
  return {directive.action, directive.number};
}

}  // namespace

Strike hit(std::uint32_t point, const void* caller, std::uint32_t path) {
  if (agent.work.load(std::memory_order_relaxed) == Work::kPlan) {
    return ask_plan(point);
  }
  return look({point, path, 0}, caller) ? perform_fault(point) : Strike();
}

}  // namespace mishap::preload
