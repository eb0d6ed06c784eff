#include <mishap/collector/io/bounded_write.h>
#include <mishap/collector/sink.h>
#include <mishap/trainer/harness/capture/capture_observer.h>
#include <mishap/trainer/harness/capture/sinks.h>
#include <mishap/trainer/harness/fault_observer.h>
#include <mishap/trainer/harness/guarded_program.h>
#include <mishap/trainer/harness/harness.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <optional>

namespace mishap {
namespace {

// The run matters more than its record.
void watch(std::optional<CaptureObserver>& capture,
           const HarnessOptions& options) noexcept {
  try {
    capture.emplace(options.capture, options.hang);
  } catch (const std::exception& problem) {
    collector::bounded_write(
        STDERR_FILENO,
        {"mishap: a failure of this run will leave no record: ", problem.what(),
         "\n"},
        std::chrono::milliseconds(100));
  }
}

}  // namespace

void run_with_harness(const HarnessOptions& options,
                      const std::function<void(const GuardOptions&)>& run) {
  std::optional<CaptureObserver> capture;
  watch(capture, options);
  FaultObserver faults;
  GuardOptions guard = options.guard;
  if (capture) {
    guard.observers.insert(guard.observers.begin(), &*capture);
  }
  guard.interceptors.push_back(&faults);
  if (options.guard.on_overtime) {
    guard.on_overtime = [&](const Overtime& overtime) {
      if (GuardedProgram::is_running()) {
        if (capture) {
          capture->end_of_overtime(overtime, kStatusOfOvertime);
        }
        _exit(kStatusOfOvertime);
      }
      if (capture) {
        capture->keep_threads_of_overtime();
      }
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
