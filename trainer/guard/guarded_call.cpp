#include <cxxabi.h>
#include <mishap/trainer/guard/guarded_call.h>
#include <pthread.h>

#include <utility>

namespace mishap {
namespace {

// A thread that is cancelled may end in the body of the user, never in the
// middle of what the guard does for it.
class NoCancellation {
 public:
  NoCancellation() noexcept {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
  }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

bool walked_on(const GuardStep& step, GuardStep::On outcome) {
  return step.on == GuardStep::On::kBoth || step.on == outcome;
}

void walk(const StepList& steps, GuardStep::On outcome, Run& run) {
  for (const GuardStep& step : steps) {
    if (walked_on(step, outcome)) {
      step.run(run);
    }
  }
}

}  // namespace

void guarded_call(std::string_view entry_point, const GuardOptions& options,
                  const std::function<void(Run&)>& body) {
  Run run(entry_point, options);
  try {
    {
      const NoCancellation whole;
      run.open();
    }
    body(run);
    const NoCancellation whole;
    run.throw_refusal();
    run.set_stage(Stage::kTeardown);
    walk(*options.steps, GuardStep::On::kSuccess, run);
    run.set_status(Status::kFinished);
    return;
  } catch (const abi::__forced_unwind&) {
    // The thread ends: no hook may run between here and its end.
    const NoCancellation whole;
    run.abandon();
    throw;
  } catch (...) {
    run.fail(std::current_exception());
  }
  try {
    const NoCancellation whole;
    walk(*options.steps, GuardStep::On::kFailure, run);
  } catch (const abi::__forced_unwind&) {
    // A hook called pthread_exit().
    run.abandon();
    throw;
  }
}

}  // namespace mishap
