#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/named_program.h>
#include <mishap/trainer/harness/cli/program_commands.h>
#include <mishap/trainer/harness/cli/program_words.h>
#include <mishap/trainer/harness/cli/sweep_folder.h>
#include <mishap/trainer/harness/cli/table.h>
#include <mishap/trainer/harness/cli/torch_part.h>
#include <mishap/trainer/harness/cli/values.h>
#include <mishap/trainer/harness/cli/watch_command.h>
#include <mishap/trainer/harness/program/keeper.h>
#include <mishap/trainer/harness/program/program_sweep.h>
#include <mishap/trainer/harness/scratch_folder.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace mishap::cli {
namespace {

// As the shells have it.
constexpr int kStatusCannotRun = 126;
constexpr int kStatusNotFound = 127;

// A sweep that was killed ends what it had started in that time.
constexpr auto kWait = std::chrono::seconds(15);

int cannot_run(const Invocation& invocation, const std::string& program,
               const std::system_error& error) {
  std::fprintf(stderr, "%s: %s cannot be run: %s\n", invocation.program.c_str(),
               program.c_str(), error.code().message().c_str());
  return error.code().value() == ENOENT ? kStatusNotFound : kStatusCannotRun;
}

std::map<std::string, std::uint64_t> stacks_of(const program::Sightings& seen) {
  std::map<std::string, std::uint64_t> stacks;
  for (const program::SeenStack& stack : seen.stacks) {
    ++stacks[stack.point];
  }
  return stacks;
}

void print_points(const program::CleanRun& clean) {
  Table table({"point", "hits", "distinct stacks"});
  auto stacks = stacks_of(clean.seen);
  for (const auto& [point, hits] : clean.seen.points) {
    table.add({point, std::to_string(hits), std::to_string(stacks[point])});
  }
  std::fputs(table.text().c_str(), stdout);
  for (const std::string& remark : clean.remarks) {
    std::printf("note: %s\n", remark.c_str());
  }
  if (!clean.difference.empty()) {
    std::printf("note: two runs differ: %s\n", clean.difference.c_str());
  }
  std::printf("%s, %s, %s\n",
              counted(clean.seen.points.size(), "point").c_str(),
              counted(clean.seen.hits, "hit").c_str(),
              counted(clean.seen.stacks.size(), "distinct stack").c_str());
}

void print_points_json(const program::CleanRun& clean) {
  nlohmann::ordered_json json;
  json["points"] = nlohmann::ordered_json::array();
  auto stacks = stacks_of(clean.seen);
  for (const auto& [point, hits] : clean.seen.points) {
    json["points"].push_back(
        {{"name", point}, {"hits", hits}, {"stacks", stacks[point]}});
  }
  json["hits"] = clean.seen.hits;
  json["stacks"] = clean.seen.stacks.size();
  json["has_python"] = clean.seen.has_python;
  json["has_torch"] = clean.seen.has_torch;
  json["difference"] = clean.difference;
  json["notes"] = clean.remarks;
  std::printf(
      "%s\n",
      json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
          .c_str());
}

int points(const Invocation& typed) {
  Invocation invocation = typed;
  std::vector<std::string> program = take_program(invocation);
  ProgramWords words;
  CommandLine line(invocation,
                   "Lists the fault points that a program hits when nothing "
                   "fails: files, allocations, and LibTorch's operators where "
                   "it has them.\n  mishap points [options] -- PROGRAM "
                   "[ARGUMENT...]");
  add_agent_options(line, words);
  line.flag("--json", words.json, "print JSON");
  if (!line.parse()) {
    return 0;
  }
  const program::ProgramOptions options =
      program_options(typed, words, std::move(program));
  const ScratchFolder folder;
  try {
    const program::CleanRun clean =
        program::count_program(options, folder.path());
    words.json ? print_points_json(clean) : print_points(clean);
    return 0;
  } catch (const program::CannotStart& error) {
    return cannot_run(invocation, options.words.front(), error);
  }
}

int sweep(const Invocation& typed) {
  Invocation invocation = typed;
  std::vector<std::string> program = take_program(invocation);
  ProgramWords words;
  CommandLine line(invocation,
                   "Fails each file call, allocation and operator of a program "
                   "once for each distinct call stack, in a child forked there "
                   "or in a fresh run, and judges from outside what comes of "
                   "it. Exit status 3 when something is hidden, broken or "
                   "dies.\n  mishap sweep [options] -- PROGRAM [ARGUMENT...]");
  add_program_options(line, words);
  line.footer(
      "The program's stdin is empty and its stdout discarded; its files are as "
      "before afterwards. It has to succeed when nothing fails.");
  if (!line.parse()) {
    return 0;
  }
  const program::ProgramOptions options =
      program_options(typed, words, std::move(program));
  const SweepFolder folder(options.sweep.out.string(), kWait);
  try {
    folder.clear();
    return program::sweep_program(options, words.json);
  } catch (const program::CannotStart& error) {
    return cannot_run(invocation, options.words.front(), error);
  }
}

Command of_program_or_task(std::string name, std::string summary,
                           std::function<int(const Invocation&)> of_program) {
  Command task = torch_command(name, summary);
  return {std::move(name), std::move(summary),
          [task, of_program](const Invocation& invocation) {
            const bool is_program = std::ranges::find(invocation.words, "--") !=
                                    invocation.words.end();
            return is_program ? of_program(invocation) : task.run(invocation);
          }};
}

}  // namespace

Command points_of_program_or_task() {
  return of_program_or_task(
      "points", "list the fault points of a task, or of any program: -- CMD",
      points);
}

Command sweep_of_program_or_task() {
  return of_program_or_task(
      "sweep",
      "fail every hit and judge what comes of it; of any program: -- CMD",
      sweep);
}

Command run_of_program_or_task() {
  return of_program_or_task(
      "run", "train a task for real, guarded; any program under faults: -- CMD",
      run_under_faults);
}

}  // namespace mishap::cli
