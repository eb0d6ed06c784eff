#include <mishap/trainer/guard/run.h>
#include <mishap/trainer/guard/steps.h>

#include <exception>

namespace mishap {
namespace {

void set_status(Run& run) {
  try {
    std::rethrow_exception(run.failure()->error);
  } catch (const Interrupted&) {
    run.set_status(Status::kInterrupted);
  } catch (...) {
    run.set_status(Status::kFailed);
  }
}

void freeze(Run& run) { run.freeze(); }

void tell(Run& run) { run.fulfil("tell", DutyKind::kTell); }

void release(Run& run) { run.fulfil("release", DutyKind::kRelease); }

void teardown(Run& run) { run.fulfil("teardown", DutyKind::kTeardown); }

void finalize(Run& run) { run.fulfil("finalize", DutyKind::kFinalize); }

void restore_process_state(Run& run) { run.restore_process_state(); }

void last_safe_point(Run& run) { run.safe_point(); }

void append_record(Run& run) { run.close(); }

void leave_signals(Run& run) { run.seat().leave(); }

void rethrow(Run& run) { std::rethrow_exception(run.failure()->error); }

}  // namespace

const StepList& standard_steps() {
  using On = GuardStep::On;
  static const StepList* const steps = new StepList{
      {"set_status", On::kFailure, set_status},
      {"freeze", On::kFailure, freeze},
      {"tell", On::kFailure, tell},
      {"release", On::kBoth, release},
      {"teardown", On::kBoth, teardown},
      {"finalize", On::kBoth, finalize},
      {"restore_process_state", On::kBoth, restore_process_state},
      {"last_safe_point", On::kBoth, last_safe_point},
      {"append_record", On::kBoth, append_record},
      {"leave_signals", On::kBoth, leave_signals},
      {"rethrow", On::kFailure, rethrow},
  };
  return *steps;
}

}  // namespace mishap
