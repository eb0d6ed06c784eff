#pragma once

#include <memory>
#include <vector>

namespace mishap::faultinject {

class ArmedPlan;
class TraceBuffer;

/// Everything that wants to hear of hits, in the order of arming. Never
/// changed: replaced, so that a hit reads it without a lock.
struct ActiveSet {
  std::vector<std::shared_ptr<ArmedPlan>> plans;
  std::vector<std::shared_ptr<TraceBuffer>> traces;
};

/// Null when nothing is active.
std::shared_ptr<const ActiveSet> active_set();

void activate(std::shared_ptr<ArmedPlan> plan);
void activate(std::shared_ptr<TraceBuffer> trace);

/// The plan or trace is to be told beforehand to ignore hits: one that is under
/// way may still hold the old set.
void deactivate(const ArmedPlan* plan) noexcept;
void deactivate(const TraceBuffer* trace) noexcept;

}  // namespace mishap::faultinject
