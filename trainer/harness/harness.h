#pragma once

#include <mishap/trainer/guard/guarded_call.h>
#include <mishap/trainer/harness/capture/capture_options.h>
#include <mishap/trainer/harness/capture/hang_options.h>

#include <functional>
#include <string_view>

namespace mishap {

/// What joins a guard with the collector and the faults.
struct HarnessOptions {
  CaptureOptions capture;
  /// When the run is taken to hang, and what then.
  HangOptions hang;
  /// Further observers and interceptors, the step list, signal handling, the
  /// limit of a piece of cleanup. Under guarded_main() `on_overtime` is not
  /// called: the process ends with 124. Without one neither happens.
  GuardOptions guard;
};

/// Runs `body` under a guard whose failures leave records and whose hooks are
/// fault points. The engine's way in; users call mishap::guard().
void run_with_harness(const HarnessOptions& options,
                      const std::function<void(const GuardOptions&)>& run);

/// Throws InputError when the records folder that was asked for could not take
/// a record.
void check_records_folder(const CaptureOptions& options);

}  // namespace mishap
