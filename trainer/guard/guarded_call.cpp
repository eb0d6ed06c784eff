#include <cxxabi.h>
#include <mishap/trainer/guard/guarded_call.h>

#include <utility>

namespace mishap {
namespace {

bool walked_on(const GuardStep& step, GuardStep::On outcome) {
  return step.on == GuardStep::On::kBoth || step.on == outcome;
}

}  // namespace

void guarded_call(std::string_view entry_point, const GuardOptions& options,
                  const std::function<void(Run&)>& body) {
  Run run(entry_point, options);
  try {
    run.open();
    body(run);
    run.set_stage(Stage::kTeardown);
    for (const GuardStep& step : *options.steps) {
      if (walked_on(step, GuardStep::On::kSuccess)) {
        step.run(run);
      }
    }
    run.set_status(Status::kFinished);
    return;
  } catch (const abi::__forced_unwind&) {
    // A cancelled thread: no hook may run between here and its end.
    run.seat().leave();
    throw;
  } catch (...) {
    run.fail(std::current_exception());
  }
  for (const GuardStep& step : *options.steps) {
    if (walked_on(step, GuardStep::On::kFailure)) {
      step.run(run);
    }
  }
}

}  // namespace mishap
