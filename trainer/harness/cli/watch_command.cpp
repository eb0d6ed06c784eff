#include <mishap/collector/clock.h>
#include <mishap/collector/crash/ending_record.h>
#include <mishap/collector/crash/left_records.h>
#include <mishap/collector/crash/supervise.h>
#include <mishap/collector/pending/slot_pulse.h>
#include <mishap/collector/recover_pending.h>
#include <mishap/collector/row_parts.h>
#include <mishap/collector/run_facts.h>
#include <mishap/collector/run_row.h>
#include <mishap/collector/uuid.h>
#include <mishap/faultinject/plan.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/cli/command_line.h>
#include <mishap/trainer/harness/cli/hung_threads.h>
#include <mishap/trainer/harness/cli/named_program.h>
#include <mishap/trainer/harness/cli/preload.h>
#include <mishap/trainer/harness/cli/values.h>
#include <mishap/trainer/harness/cli/watch_command.h>
#include <mishap/trainer/harness/program/torch_of_program.h>
#include <mishap/trainer/harness/program/torch_part.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace mishap::cli {
namespace {

using collector::Ending;
using collector::LeftRecords;
using collector::RunOutcome;

// As timeout(1), nice(1) and the shells have it.
constexpr int kStatusOfHang = 124;
constexpr int kStatusCannotRun = 126;
constexpr int kStatusNotFound = 127;

struct Options {
  std::string records;
  std::string faults;
  std::vector<std::string> files;
  std::string hang_after;
  bool ends_hung = false;
  bool keeps_rows = false;
  bool leaves_stderr = false;
  bool no_preload = false;
  bool is_quiet = false;
  std::vector<std::string> words;
};

void check_faults(const std::string& faults) {
  know_torch_types();
  if (faults.empty() ||
      faultinject::Plan::parse(faults, "--faults").rules.empty()) {
    throw InputError(
        "name the fault by --faults, as in 'mishap run --faults "
        "io/write=1*errno(ENOSPC) -- ./train'; 'mishap watch' "
        "runs a program without one");
  }
  if (preload_variables().empty()) {
    throw InputError(
        "libmishap_preload.so is not beside this program nor in "
        "../lib/mishap; build or install all of Mishap");
  }
}

std::optional<Options> parse(const Invocation& typed, bool has_faults) {
  Invocation invocation = typed;
  Options options;
  options.words = take_program(invocation);
  CommandLine line(
      invocation,
      has_faults
          ? "Runs any program under faults, and leaves a record when it does "
            "not end well:\n"
            "  mishap run --faults SPEC [options] -- PROGRAM [ARGUMENT...]"
          : "Runs any program and leaves a record when it crashes, is "
            "killed, hangs, or exits with a status other than 0:\n"
            "  mishap watch [options] -- PROGRAM [ARGUMENT...]");
  if (has_faults) {
    line.option("--faults", options.faults, "SPEC",
                "the plan, such as 'io/write=3*off->1*errno(ENOSPC)'");
    line.option("--files", options.files, "GLOB",
                "files that io points look at, in place of all but the "
                "system's; may be repeated");
  }
  line.option("--records", options.records, "DIR",
              "folder of the records, the program's own too; else "
              "MISHAP_RECORDS, else mishap-records");
  line.option("--hang-after", options.hang_after, "SECONDS",
              "it hangs when it gives no sign of life for so long: of a "
              "guarded program its hooks, of another one what it writes on "
              "stderr");
  line.flag("--end-hung", options.ends_hung,
            "end it then (SIGTERM, SIGKILL after 10 s) and exit with 124");
  line.flag("--rows", options.keeps_rows,
            "a row in runs.jsonl for a run that went well too");
  line.flag("--no-stderr", options.leaves_stderr,
            "leave its stderr alone: it stays what it is, a terminal for one, "
            "and the record has nothing of it");
  if (!has_faults) {
    line.flag("--no-preload", options.no_preload,
              "do not preload libmishap_preload.so");
  }
  line.flag("--quiet", options.is_quiet, "say nothing on stderr");
  line.footer(
      "Its exit status is the program's; a signal that ended the program ends "
      "this process too. 126 and 127: the program could not be run, was not "
      "found.\nSignals that a process sends here are handed on.");
  if (!line.parse()) {
    return std::nullopt;
  }
  if (options.words.empty()) {
    throw InputError("name the program behind --, as in '" + typed.name() +
                     " -- ./train --epochs 3'");
  }
  if (has_faults) {
    check_faults(options.faults);
  }
  if (options.ends_hung && options.hang_after.empty()) {
    throw InputError("--end-hung needs --hang-after SECONDS");
  }
  return options;
}

std::string text_of(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::kSuccess:
      return "success";
    case RunOutcome::kCrashed:
      return "crashed";
    case RunOutcome::kKilled:
      return "was killed";
    case RunOutcome::kHung:
      return "hung and was ended";
    case RunOutcome::kInterrupted:
      return "was interrupted";
    case RunOutcome::kFailed:
      break;
  }
  return "failed";
}

std::string lines_of(const std::vector<std::string>& globs) {
  std::string lines;
  for (const std::string& glob : globs) {
    lines += glob + '\n';
  }
  return lines;
}

class WatchedProgram {
 public:
  explicit WatchedProgram(const Options& options)
      : options_(options),
        folder_(absolute_path("--records",
                              options.records.empty()
                                  ? collector::records_folder("mishap-records")
                                  : options.records)),
        sink_({.folder = folder_}),
        left_(sink_) {
    if (const auto problem = collector::probe_folder(folder_)) {
      throw InputError(*problem);
    }
    const collector::Uuid id = collector::make_uuid();
    run_.run_id = id.view();
    run_.reproduce = reproduce_command("");
    start_unix_nanos_ = collector::Clock::system().unix_nano();
    start_steady_nanos_ = collector::Clock::system().steady_nano();
    // What earlier runs left is not this one's.
    collector::recover_pending(sink_);
    left_ = LeftRecords(sink_);
  }

  Ending run() {
    collector::Supervision supervision;
    supervision.words = options_.words;
    supervision.environment = {{"MISHAP_RECORDS", folder_},
                               {"MISHAP_WATCH", run_.run_id}};
    supervision.id_variables = {"MISHAP_WATCH_PID"};
    if (!options_.faults.empty()) {
      supervision.id_variables.emplace_back("MISHAP_SWEEP_PID");
      supervision.environment.emplace_back("MISHAP_SWEEP_FAULTS",
                                           options_.faults);
      supervision.environment.emplace_back("MISHAP_SWEEP_FILES",
                                           lines_of(options_.files));
      add_torch_part(supervision);
    }
    if (!options_.no_preload) {
      for (auto& variable : preload_variables()) {
        supervision.environment.push_back(std::move(variable));
      }
    }
    supervision.keeps_stderr = !options_.leaves_stderr;
    if (!options_.hang_after.empty()) {
      supervision.environment.emplace_back("MISHAP_WATCH_STACKS", stacks_path_);
      supervision.hang_after = std::chrono::milliseconds(static_cast<long>(
          1e3 * number("--hang-after", options_.hang_after, 0.01, 1e7)));
    }
    supervision.ends_hung = options_.ends_hung;
    supervision.pulse = [this](pid_t process) {
      const auto pulse = collector::slot_pulse(folder_, process);
      is_guarded_ = is_guarded_ || pulse.has_value();
      return pulse;
    };
    supervision.on_hang = [this](pid_t process,
                                 std::chrono::milliseconds silence) {
      tell_hang(process, silence);
    };
    Ending ending = collector::supervise(supervision);
    std::error_code error;
    std::filesystem::remove(stacks_path_, error);
    return ending;
  }

  /// Leaves what there is to tell.
  void tell(const Ending& ending) {
    const collector::Epitaph epitaph{ending.process,
                                     collector::exit_of(ending)};
    collector::recover_pending(sink_, &epitaph);
    const auto kind = collector::kind_of(ending);
    if (kind && !is_told(ending, *kind)) {
      keep(collector::append_ending(sink_, run_, ending));
    }
    const RunOutcome outcome = outcome_of(kind);
    // A program that told its failure itself has a row of its own.
    if (!record_ids_.empty() || options_.keeps_rows) {
      append_row(ending.process, outcome);
    }
    if (kind && !options_.is_quiet) {
      std::fprintf(stderr, "mishap: %s %s; %s\n",
                   options_.words.front().c_str(), text_of(outcome).c_str(),
                   ("see 'mishap show " + shell_quoted(folder_) + "'").c_str());
    }
  }

 private:
  // Operators are points only where the program has their library.
  void add_torch_part(collector::Supervision& supervision) const {
    if (options_.faults.find("op/") == std::string::npos) {
      return;
    }
    const std::string torch = program::torch_of_program(options_.words);
    std::string problem = "operators are left out: " + options_.words.front() +
                          " is not linked to LibTorch as far as can be seen";
    const std::string part =
        torch.empty() ? "" : program::torch_part_for(torch, problem);
    if (part.empty()) {
      std::fprintf(stderr, "mishap: %s\n", problem.c_str());
      return;
    }
    supervision.environment.emplace_back("MISHAP_SWEEP_TORCH_PART", part);
  }

  static RunOutcome outcome_of(std::optional<collector::RecordKind> kind) {
    using collector::RecordKind;
    if (!kind) {
      return RunOutcome::kSuccess;
    }
    switch (*kind) {
      case RecordKind::kCrash:
        return RunOutcome::kCrashed;
      case RecordKind::kKilled:
        return RunOutcome::kKilled;
      case RecordKind::kHang:
        return RunOutcome::kHung;
      case RecordKind::kInterrupt:
        return RunOutcome::kInterrupted;
      default:
        return RunOutcome::kFailed;
    }
  }

  void keep(const std::string& record_id) {
    if (!record_id.empty()) {
      record_ids_.push_back(record_id);
    }
  }

  // The program's own record of this end: of any kind when it exited, since
  // what it recorded last is why it did; of a death by a signal only one that
  // tells of an end.
  bool is_told(const Ending& ending, collector::RecordKind kind) {
    if (kind == collector::RecordKind::kHang && !record_ids_.empty()) {
      return true;
    }
    const bool exited = !WIFSIGNALED(ending.wait_status);
    bool told = false;
    for (const LeftRecords::Found& found :
         left_.of(ending.process, run_.run_id)) {
      told = told || exited || found.kind != "error";
    }
    return told;
  }

  void tell_hang(pid_t process, std::chrono::milliseconds silence) {
    for (const LeftRecords::Found& found : left_.of(process, run_.run_id)) {
      if (found.kind == "hang") {
        return;
      }
    }
    hung_.ask(stacks_path_, process);
    const std::string id = collector::append_hang(
        sink_, run_, process, silence,
        is_guarded_ ? "no breadcrumb" : "nothing on stderr", hung_.threads());
    keep(id);
    // At once: the names of its frames are wanted while it hangs.
    if (!hung_.modules().empty()) {
      append_row(process, RunOutcome::kHung);
    }
    if (!options_.is_quiet) {
      std::fprintf(stderr, "mishap: %s has been silent for %.1f s; recorded\n",
                   options_.words.front().c_str(),
                   static_cast<double>(silence.count()) / 1e3);
    }
  }

  void append_row(pid_t process, RunOutcome outcome) {
    const collector::RunFacts facts = collector::RunFacts::gather();
    collector::RunRow row;
    facts.fill(row);
    row.run_id = run_.run_id;
    row.pid = process;
    row.modules = hung_.modules();
    fill_times(row, start_unix_nanos_, start_steady_nanos_);
    row.outcome = outcome;
    const std::vector<std::string_view> ids(record_ids_.begin(),
                                            record_ids_.end());
    row.record_ids = ids;
    std::string line(collector::kRunRowBufferBytes, '\0');
    const std::size_t size = write_run_row(row, line);
    sink_.append_run(std::string_view(line).substr(0, size));
  }

  const Options& options_;
  const std::string folder_;
  collector::RecordSink sink_;
  LeftRecords left_;
  collector::WatchedRun run_;
  HungThreads hung_;
  const std::string stacks_path_ =
      folder_ + "/.mishap-stacks-" + std::to_string(getpid());
  std::vector<std::string> record_ids_;
  bool is_guarded_ = false;
  std::int64_t start_unix_nanos_ = 0;
  std::int64_t start_steady_nanos_ = 0;
};

int cannot_run(const Invocation& invocation, const std::system_error& error) {
  std::fprintf(stderr, "%s: %s cannot be run: %s\n", invocation.program.c_str(),
               invocation.command.c_str(), error.what());
  return error.code().value() == ENOENT ? kStatusNotFound : kStatusCannotRun;
}

int run(const Invocation& invocation, bool has_faults) {
  const std::optional<Options> options = parse(invocation, has_faults);
  if (!options) {
    return 0;
  }
  WatchedProgram program(*options);
  Ending ending;
  try {
    ending = program.run();
  } catch (const std::system_error& error) {
    return cannot_run(invocation, error);
  }
  program.tell(ending);
  if (ending.was_hung) {
    return kStatusOfHang;
  }
  std::fflush(nullptr);
  collector::end_like(ending.wait_status);
}

}  // namespace

Command watch_command() {
  return {"watch", "run any program; crashes, kills and hangs leave records",
          [](const Invocation& invocation) { return run(invocation, false); }};
}

int run_under_faults(const Invocation& invocation) {
  return run(invocation, true);
}

}  // namespace mishap::cli
