#pragma once

#include <mishap/trainer/harness/program/control_file.h>
#include <mishap/trainer/harness/program/keeper.h>
#include <mishap/trainer/harness/program/kept_files.h>
#include <mishap/trainer/harness/program/program_options.h>
#include <mishap/trainer/harness/program/sightings.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mishap::program {

/// How a whole run ended.
struct RunEnd {
  int wait_status = 0;
  bool was_hung = false;
  std::chrono::nanoseconds time{};
  /// The end of what it wrote on stderr.
  std::string errors;

  bool is_success() const { return !was_hung && wait_status == 0; }
};

/// "exited with status 1", "was ended by SIGSEGV", "did not end".
std::string text_of(const RunEnd& end);

/// What every run of a sweep needs: the keeper, the shared file, the files.
class Workbench {
 public:
  /// `out` exists and is nobody else's. First puts back what a sweep left there
  /// that was killed with its keeper. To be made while this process has one
  /// thread. Throws std::system_error.
  Workbench(const ProgramOptions& options, const std::string& out);
  /// Of a job of another sweep: `scratch` exists and is nobody else's, and all
  /// in `out` is left alone.
  Workbench(const ProgramOptions& options, const std::string& out,
            std::string scratch);
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  const ProgramOptions& options() const { return options_; }
  const std::string& current_folder() const { return current_folder_; }
  ControlFile& control() { return *control_; }
  Keeper& keeper() { return *keeper_; }
  KeptFiles& files() { return *files_; }
  ModuleList& modules() { return modules_; }
  /// A path in the scratch folder.
  std::string scratch(const std::string& name) const {
    return scratch_ + '/' + name;
  }
  const std::string& scratch_folder() const { return scratch_; }

  /// Runs it to its end, and ends it (with all its descendants) at the limit,
  /// or when a person wants to stop: then throws Stopped. What it leaves behind
  /// still lives. Throws std::system_error when it can't be started.
  RunEnd run(Role role, std::optional<std::chrono::milliseconds> limit);
  /// The order of a run of the agent with what all have in common.
  RunOrder order(Mode mode) const;

  std::string torch_part;
  /// The program that stands before a fork and is not to be ended; 0: none.
  pid_t standing = 0;

 private:
  ProgramOptions options_;
  std::string current_folder_;
  std::string scratch_;
  std::unique_ptr<ControlFile> control_;
  std::unique_ptr<Keeper> keeper_;
  std::unique_ptr<KeptFiles> files_;
  ModuleList modules_;
};

/// A person wants the sweep to stop.
struct Stopped {};

/// The last lines of a file.
std::string tail_of(const std::string& path);

}  // namespace mishap::program
