#pragma once

#include <mishap/faultinject/sweep/summary.h>
#include <mishap/trainer/harness/program/clean_run.h>
#include <mishap/trainer/harness/program/program_options.h>

namespace mishap::program {

/// Sweeps a program and tells what came of it: on stdout, and in the folder
/// `options.sweep.out`, which exists and is nobody else's. Returns the exit
/// status: 0, 3 when something is neither held, recovered nor known, 128 + n
/// when it was stopped by signal n. The program's files are as before, whatever
/// happens.
///
/// Throws InputError, SweepError, PlanError for what a person can put right;
/// std::system_error with the errno of exec when the program can't be started.
int sweep_program(const ProgramOptions& options, bool json);

/// The run with nothing failing alone.
CleanRun count_program(const ProgramOptions& options, const std::string& out);

}  // namespace mishap::program
