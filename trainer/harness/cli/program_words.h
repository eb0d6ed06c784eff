#pragma once

#include <mishap/trainer/harness/cli/command_line.h>
#include <mishap/trainer/harness/cli/sweep_options.h>
#include <mishap/trainer/harness/program/program_options.h>

#include <string>
#include <vector>

namespace mishap::cli {

/// The options of `sweep -- PROGRAM` as they were typed.
struct ProgramWords : ExtentWords {
  std::vector<std::string> points;
  std::string actions;
  std::string mode = "transient";
  std::string only;
  std::string seed = "0";
  std::string unique = "stacks";
  std::string jobs = "1";
  std::string stacks;
  std::string limit;
  std::string check;
  std::vector<std::string> atomic;
  std::vector<std::string> files;
  std::vector<std::string> follow;
  bool no_fork = false;
};

/// --points, --files and --follow.
void add_agent_options(CommandLine& line, ProgramWords& words);
void add_program_options(CommandLine& line, ProgramWords& words);

/// Throws InputError, PlanError or SweepError, each naming the option.
program::ProgramOptions program_options(const Invocation& invocation,
                                        const ProgramWords& words,
                                        std::vector<std::string> program);

}  // namespace mishap::cli
