/// A guard for your own training loop.
///
///     int main(int argc, char** argv) {
///       return mishap::guarded_main(argc, argv, [] {
///         mishap::guard("fit", [](mishap::Run& run) {
///           for (std::int64_t step = 0; step < steps; ++step) {
///             run.step(step);
///             train_one_batch();
///           }
///         });
///       });
///     }
///
/// What fails inside leaves one record and comes out unchanged; SIGINT and
/// SIGTERM end the loop at the next run.step() with mishap::Interrupted.
#pragma once

#include <mishap/faultinject/environment.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/guard/run.h>
#include <mishap/trainer/harness/harness.h>
#include <mishap/trainer/harness/save_file.h>

#include <functional>
#include <string_view>

namespace mishap {

/// Runs `body` guarded, as the entry point `name`. Returns what the body did,
/// or throws the first error: the very object that was thrown.
///
/// A piece of the cleanup that runs longer than options.guard.cleanup_limit is
/// recorded as timed out, with the stacks of all threads, and warned of on
/// stderr. So is a run without progress for options.hang.after, if that is
/// asked for, and one that does not come to a safe point within
/// options.hang.grace_period after a SIGINT or SIGTERM: a record of kind
/// `hang`; then the run goes on. When the process is left by
/// exit() in the run, on whatever thread, the run leaves a record of kind
/// `exit` and the status is not 0.
void guard(std::string_view name, const std::function<void(Run&)>& body,
           const HarnessOptions& options = {});

/// Runs a program's work and gives the status to return from main: 0 success,
/// 1 failure, 2 bad input (mishap::InputError), 3 contract violated, 128 + n
/// signal n. An error or a signal outside every guard leaves a record too, with
/// `entry_point` null. A piece of cleanup that passes its limit and a run that
/// hangs end the process with 124, by _exit(), once the record stands in the
/// file; one that hangs after a signal with 128 + n.
int guarded_main(int argc, char** argv, const std::function<void()>& work);

/// Arms the plan in MISHAP_FAULTS or in the file that MISHAP_FAULTS_FILE names,
/// as long as the result lives, and says so on stderr; nothing without one. No
/// program takes faults from its environment unless it calls this.
/// Throws faultinject::PlanError (status 2 under guarded_main).
[[nodiscard]] inline faultinject::Scenario arm_from_environment() {
  return faultinject::arm_from_environment();
}

/// True if a throw anywhere in this process passes through Mishap's hook, so
/// that records show the stack of the throw.
bool hook_is_live() noexcept;

}  // namespace mishap
