#include <mishap/collector/sink.h>
#include <mishap/trainer/harness/capture/capture_observer.h>
#include <mishap/trainer/harness/capture/sinks.h>
#include <mishap/trainer/harness/fault_observer.h>
#include <mishap/trainer/harness/guarded_program.h>
#include <mishap/trainer/harness/harness.h>
#include <unistd.h>

namespace mishap {

void run_with_harness(const HarnessOptions& options,
                      const std::function<void(const GuardOptions&)>& run) {
  CaptureObserver capture(options.capture, options.hang);
  FaultObserver faults;
  GuardOptions guard = options.guard;
  guard.observers.insert(guard.observers.begin(), &capture);
  guard.interceptors.push_back(&faults);
  if (options.guard.on_overtime) {
    guard.on_overtime = [&](const Overtime& overtime) {
      if (GuardedProgram::is_running()) {
        capture.end_of_overtime(overtime, kStatusOfOvertime);
        _exit(kStatusOfOvertime);
      }
      capture.keep_threads_of_overtime();
      options.guard.on_overtime(overtime);
    };
  }
  run(guard);
}

void check_records_folder(const CaptureOptions& options) {
  if (const auto problem = collector::probe_folder(folder_for(options))) {
    throw InputError(*problem);
  }
}

}  // namespace mishap
