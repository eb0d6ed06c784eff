#pragma once

#include <mishap/trainer/guard/overtime.h>
#include <mishap/trainer/guard/run.h>
#include <mishap/trainer/guard/steps.h>

#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

namespace mishap {

/// How a guard watches and ends a run. Copies nothing: what it points to must
/// outlive the call.
struct GuardOptions {
  /// Called first at each hook, in this order.
  std::vector<Observer*> observers;
  /// Called after all observers at each hook.
  std::vector<Observer*> interceptors;
  /// What is done at the end of the run.
  const StepList* steps = &standard_steps();
  /// False leaves SIGINT and SIGTERM to the embedder.
  bool handle_signals = true;
  /// A piece of cleanup that takes longer is noted as timed out, and
  /// `on_overtime` is told while it still runs. Zero or less: no limit.
  std::chrono::milliseconds cleanup_limit{30'000};
  /// Called once for each piece that passes its limit, on a thread of the
  /// guard's and while the piece runs. What the piece does cannot be cancelled:
  /// tell somebody, or end the process. Must not throw. Empty: nobody is told
  /// and no thread watches; what was late is noted when it ends.
  std::function<void(const Overtime&)> on_overtime = warn_of_overtime;
  /// The object whose entry point this is; see Run::owner().
  const void* owner = nullptr;
};

/// Runs `body` as one call of an entry point and walks the step list whatever
/// happens. The first error comes out unchanged, as the same object.
void guarded_call(std::string_view entry_point, const GuardOptions& options,
                  const std::function<void(Run&)>& body);

}  // namespace mishap
