#include <mishap/collector/torch/quiet_errors.h>
#include <mishap/faultinject/point.h>
#include <mishap/trainer/cli_torch/repeatable_subject.h>
#include <mishap/trainer/cli_torch/stop_request.h>
#include <mishap/trainer/cli_torch/sweep_command.h>
#include <mishap/trainer/cli_torch/task_choice.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/capture/reproduce.h>
#include <mishap/trainer/harness/cli/sweep_folder.h>
#include <mishap/trainer/harness/cli/sweep_options.h>
#include <mishap/trainer/harness/cli/sweep_report.h>
#include <mishap/trainer/harness/cli/values.h>
#include <mishap/trainer/harness/contract/contract_subject.h>
#include <mishap/trainer/testing/trainer_world.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::app {
namespace {

namespace sweep = faultinject::sweep;
using faultinject::PointId;
using PointsJson = nlohmann::ordered_json;

void refuse_programs(const cli::Invocation& invocation) {
  if (std::ranges::find(invocation.words, "--") != invocation.words.end()) {
    throw InputError("'" + invocation.name() +
                     " -- PROGRAM' does not exist yet: name a task instead");
  }
}

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

struct PointHits {
  PointId point;
  std::uint64_t hits = 0;
};

// In the order of their first hit.
std::vector<PointHits> count(const std::vector<PointId>& sequence) {
  std::vector<PointHits> rows;
  std::map<PointId, std::size_t> places;
  for (const PointId point : sequence) {
    const auto [place, is_new] = places.try_emplace(point, rows.size());
    if (is_new) {
      rows.push_back({point, 0});
    }
    ++rows[place->second].hits;
  }
  return rows;
}

void print_points(const std::string& entry_point, std::size_t hits,
                  const std::vector<PointHits>& rows) {
  std::printf("%s: %zu hits of %zu points\n", entry_point.c_str(), hits,
              rows.size());
  for (const PointHits& row : rows) {
    std::printf("%8llu  %s\n", static_cast<unsigned long long>(row.hits),
                std::string(name_of(row.point)).c_str());
  }
}

PointsJson points_json(const std::string& entry_point, std::size_t hits,
                       const std::vector<PointHits>& rows) {
  PointsJson list = PointsJson::array();
  for (const PointHits& row : rows) {
    list.push_back({{"name", name_of(row.point)}, {"hits", row.hits}});
  }
  return {{"name", entry_point}, {"hits", hits}, {"points", std::move(list)}};
}

int run_points(const cli::Invocation& invocation) {
  refuse_programs(invocation);
  TaskChoice choice;
  std::vector<std::string> wanted;
  bool json = false;
  cli::CommandLine line(invocation,
                        "Lists the fault points that a run of the task's world "
                        "hits, with nothing failing.");
  choice.add_to(line);
  line.option("--entry", wanted, "NAME",
              "only this entry point; may be repeated");
  line.flag("--json", json, "print JSON");
  if (!line.parse()) {
    return 0;
  }
  choice.resolve();
  const auto kind = std::make_shared<WorldKind>(choice.world());
  const WorldFactory worlds = trainer_worlds(kind);
  wanted = chosen_entry_points(*kind, wanted);
  HarnessOptions options;
  options.capture.pending_slot = false;
  ContractSubject subject(worlds, wanted, options);
  PointsJson list = PointsJson::array();
  for (const std::string& name : wanted) {
    const std::vector<PointId> sequence = subject.baseline(name);
    const std::vector<PointHits> rows = count(sequence);
    if (json) {
      list.push_back(points_json(name, sequence.size(), rows));
    } else {
      print_points(name, sequence.size(), rows);
    }
  }
  if (json) {
    std::puts(PointsJson{{"entry_points", std::move(list)}}.dump(2).c_str());
  }
  return 0;
}

std::string judge_again(const TaskChoice& choice, const sweep::Case& failing) {
  return choice.command("sweep") + " --entry " + failing.entry_point +
         " --points " + shell_quoted(name_of(failing.point)) + " --actions " +
         shell_quoted(failing.action) + " --mode " +
         std::string(to_string(failing.mode));
}

int run_sweep_of(const cli::Invocation& invocation) {
  refuse_programs(invocation);
  TaskChoice choice;
  cli::SweepWords words;
  cli::CommandLine line(
      invocation,
      "Fails every hit of every fault point of the task's world, one a run, "
      "and judges the cleanup by the contract. Exit status 3 when it is "
      "broken.");
  choice.add_to(line);
  add_sweep_options(line, words);
  if (!line.parse()) {
    return 0;
  }
  choice.resolve();
  check_entry_points(words.entry_points);
  sweep::Options options = sweep_options(words, choice.seed());
  const auto kind = std::make_shared<WorldKind>(choice.world());
  const WorldFactory worlds = trainer_worlds(kind);
  const std::vector<std::string> entry_points =
      chosen_entry_points(*kind, words.entry_points);
  const cli::SweepFolder folder(options.out.string());
  options.begins = [&folder] { folder.clear(); };

  collector::quiet_c10_errors();
  HarnessOptions harness;
  harness.capture.records = options.out.string();
  ContractSubject subject(StopRequest::listening(worlds), entry_points,
                          harness);
  RepeatableSubject repeatable(subject, choice);
  cli::SweepReport report([&choice](const sweep::Case& failing) {
    return judge_again(choice, failing);
  });
  const StopRequest stop;
  const sweep::Summary summary =
      run_sweep(repeatable, options, [&](const sweep::Progress& progress) {
        if (const int signal = StopRequest::signal(); signal != 0) {
          throw Interrupted(signal, "the sweep was stopped after " +
                                        std::to_string(progress.done) + " of " +
                                        std::to_string(progress.planned) +
                                        " cases; they are in " +
                                        options.out.string());
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
