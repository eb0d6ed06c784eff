#include <mishap/collector/torch/quiet_errors.h>
#include <mishap/faultinject/point.h>
#include <mishap/trainer/cli_torch/repeatable_subject.h>
#include <mishap/trainer/cli_torch/stop_request.h>
#include <mishap/trainer/cli_torch/sweep_command.h>
#include <mishap/trainer/cli_torch/task_choice.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/cli/named_program.h>
#include <mishap/trainer/harness/cli/points_report.h>
#include <mishap/trainer/harness/cli/sweep_folder.h>
#include <mishap/trainer/harness/cli/sweep_options.h>
#include <mishap/trainer/harness/cli/sweep_report.h>
#include <mishap/trainer/harness/cli/values.h>
#include <mishap/trainer/harness/contract/contract_subject.h>
#include <mishap/trainer/testing/trainer_world.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::app {
namespace {

namespace sweep = faultinject::sweep;
using faultinject::PointId;

void check_entry_points(const std::vector<std::string>& names) {
  const std::vector<std::string>& all = trainer_entry_points();
  const std::vector<std::string_view> known(all.begin(), all.end());
  for (const std::string& name : names) {
    cli::one_of("--entry", name, known);
  }
}

// The entry points that were asked for, or else all that the world works with;
// says which it leaves out.
std::vector<std::string> chosen_entry_points(
    WorldKind& kind, const std::vector<std::string>& wanted) {
  check_entry_points(wanted);
  if (!wanted.empty()) {
    return wanted;
  }
  std::vector<std::string> chosen;
  std::string left_out;
  for (const std::string& name : trainer_entry_points()) {
    const std::exception_ptr& refusal = kind.refusal(name);
    try {
      if (refusal) {
        std::rethrow_exception(refusal);
      }
      chosen.push_back(name);
    } catch (const InputError& error) {
      left_out += name + " is left out: " + error.what() + '\n';
    }
  }
  if (chosen.empty()) {
    std::rethrow_exception(kind.refusal(trainer_entry_points().front()));
  }
  std::fputs(left_out.c_str(), stderr);
  return chosen;
}

int run_points(const cli::Invocation& invocation) {
  cli::refuse_program(invocation);
  TaskChoice choice;
  cli::ActionWords words;
  std::vector<std::string> wanted;
  bool json = false;
  cli::CommandLine line(invocation,
                        "Lists the fault points that a run of the task's world "
                        "hits, with nothing failing, and the number of cases "
                        "that a sweep makes of them.");
  choice.add_to(line);
  line.option("--entry", wanted, "NAME",
              "only this entry point; may be repeated");
  add_action_options(line, words);
  line.flag("--json", json, "print JSON");
  if (!line.parse()) {
    return 0;
  }
  choice.resolve();
  const sweep::Options options = action_options(words);
  const auto kind = std::make_shared<WorldKind>(choice.world());
  const WorldFactory worlds = trainer_worlds(kind);
  wanted = chosen_entry_points(*kind, wanted);
  HarnessOptions harness;
  harness.capture.pending_slot = false;
  ContractSubject subject(worlds, wanted, harness);
  std::vector<cli::PointsOfEntry> entries;
  for (const std::string& name : wanted) {
    entries.push_back(cli::count_points(name, subject.baseline(name), options));
    if (!json) {
      std::fputs(cli::points_text(entries.back(), options).c_str(), stdout);
    }
  }
  if (json) {
    std::fputs(cli::points_json(entries, options).c_str(), stdout);
  }
  return 0;
}

std::string judge_again(const TaskChoice& choice, const cli::SweepWords& words,
                        const sweep::Case& failing) {
  std::string command =
      choice.command("sweep") + " --case " + shell_quoted(failing.id);
  for (const std::string& glob : words.recovers) {
    command += " --recovers " + shell_quoted(glob);
  }
  return command;
}

[[noreturn]] void stop(int signal, const std::string& when, std::uint64_t done,
                       std::uint64_t planned) {
  throw Interrupted(signal, "the sweep was stopped after " +
                                std::to_string(done) + " of " +
                                std::to_string(planned) + ' ' + when);
}

int run_sweep_of(const cli::Invocation& invocation) {
  cli::refuse_program(invocation);
  TaskChoice choice;
  cli::SweepWords words;
  cli::CommandLine line(
      invocation,
      "Fails every hit of every fault point of the task's world, one a run, "
      "and judges the cleanup by the contract; with --pairs two hits a run. "
      "Exit status 3 when it is broken.");
  choice.add_to(line);
  add_sweep_options(line, words);
  if (!line.parse()) {
    return 0;
  }
  choice.resolve();
  sweep::Options options = sweep_options(words, choice.seed());
  check_entry_points(options.entry_points);
  const auto kind = std::make_shared<WorldKind>(choice.world());
  const WorldFactory worlds = trainer_worlds(kind);
  const std::vector<std::string> entry_points =
      chosen_entry_points(*kind, options.entry_points);
  const cli::SweepFolder folder(options.out.string());
  options.begins = [&folder] { folder.clear(); };

  collector::quiet_c10_errors();
  HarnessOptions harness;
  harness.capture.records = options.out.string();
  ContractSubject subject(StopRequest::listening(worlds), entry_points,
                          harness);
  RepeatableSubject repeatable(subject, choice);
  cli::SweepReport report([&](const sweep::Case& failing) {
    return judge_again(choice, words, failing);
  });
  const StopRequest listening;
  options.scouts = [&](std::uint64_t done, std::uint64_t planned) {
    if (const int signal = StopRequest::signal(); signal != 0) {
      stop(signal, "runs that look for pairs; there are no cases yet", done,
           planned);
    }
    report.note_scouting(done, planned);
  };
  const sweep::Summary summary =
      run_sweep(repeatable, options, [&](const sweep::Progress& progress) {
        if (const int signal = StopRequest::signal(); signal != 0) {
          stop(signal, "cases; they are in " + options.out.string(),
               progress.done, progress.planned);
        }
        report.note(progress);
      });
  report.print(summary, options, words.json);
  return summary.exit_status();
}

}  // namespace

cli::Command points_command() {
  return {"points", "list a task's fault points with hit counts", run_points};
}

cli::Command sweep_command() {
  return {"sweep", "fail every hit of every point and judge the cleanup",
          run_sweep_of};
}

}  // namespace mishap::app
