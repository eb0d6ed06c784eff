#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/sweep/case_id.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/named_program.h>
#include <mishap/trainer/harness/cli/preload.h>
#include <mishap/trainer/harness/cli/program_words.h>
#include <mishap/trainer/harness/cli/torch_part.h>
#include <mishap/trainer/harness/cli/values.h>
#include <mishap/trainer/harness/program/command_text.h>
#include <mishap/trainer/harness/program/plan_cases.h>
#include <mishap/trainer/harness/program/torch_part.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mishap::cli {
namespace {

namespace sweep = faultinject::sweep;

void choose(sweep::Options& options, const ProgramWords& words) {
  if (words.only.empty()) {
    options.actions = list(words.actions);
    for (const std::string& action : options.actions) {
      faultinject::parse_action(action);
    }
    options.modes = modes(words.mode);
    return;
  }
  if (!words.points.empty() || !words.actions.empty() ||
      words.mode != "transient") {
    throw InputError(
        "--case names point, action and mode itself; leave out --points, "
        "--actions and --mode");
  }
  choose_case(options, words.only);
  if (options.entry_points.front() != program::kEntryPoint || options.pairs) {
    throw InputError("--case: '" + words.only +
                     "' is a case of a task; those of a program begin with "
                     "'program:'");
  }
}

// What has to be typed again for a case to be judged as it was.
std::string repeat_text(const Invocation& invocation, const ProgramWords& words,
                        const std::vector<std::string>& program,
                        const std::string& id) {
  std::vector<std::string> all{invocation.program, invocation.command, "--case",
                               id};
  const auto add = [&](const char* option,
                       const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      if (!value.empty()) {
        all.insert(all.end(), {option, value});
      }
    }
  };
  add("--atomic", words.atomic);
  add("--recovers", words.recovers);
  add("--files", words.files);
  add("--follow", words.follow);
  add("--check", {words.check});
  add("--limit", {words.limit});
  if (words.no_fork) {
    all.emplace_back("--no-fork");
  }
  all.emplace_back("--");
  all.insert(all.end(), program.begin(), program.end());
  return program::shell_line(all);
}

}  // namespace

void add_agent_options(CommandLine& line, ProgramWords& words) {
  line.option("--points", words.points, "GLOB",
              "only points that match, such as 'io/**' or 'op/aten::add*'; may "
              "be repeated");
  line.option("--files", words.files, "GLOB",
              "files that io points look at, in place of all but the system's; "
              "may be repeated");
  line.option("--follow", words.follow, "GLOB",
              "programs that it starts, by name, that are looked at in its "
              "place; may be repeated");
}

void add_program_options(CommandLine& line, ProgramWords& words) {
  add_agent_options(line, words);
  line.option("--actions", words.actions, "LIST",
              "what happens at a hit, in place of each point's own");
  add_mode_option(line, words.mode);
  line.option("--unique", words.unique, "WHAT",
              "stacks: each point once for each distinct call stack; hits: "
              "every hit");
  line.option("--atomic", words.atomic, "GLOB",
              "files that have to be old or new, never in between; may be "
              "repeated");
  line.option("--check", words.check, "COMMAND",
              "has to succeed on the files that a case leaves");
  line.option("--limit", words.limit, "SECONDS",
              "a case that takes longer hangs; else ten times the run without "
              "faults, at least 10");
  line.option("--stacks", words.stacks, "FILE",
              "remembers the stacks that were tried; a later sweep with the "
              "same file tries only new ones");
  line.option("--case", words.only, "ID",
              "only the case that has this id in cases.jsonl");
  line.option("--seed", words.seed, "N", "chooses within the budget");
  line.flag("--no-fork", words.no_fork, "start the program anew for each case");
  line.option("--jobs", words.jobs, "N",
              "try so many cases at a time, each in copies of the program's "
              "folders that nobody else sees");
  add_extent_options(line, words);
}

program::ProgramOptions program_options(const Invocation& invocation,
                                        const ProgramWords& words,
                                        std::vector<std::string> program) {
  if (program.empty()) {
    throw InputError("name the program behind --, as in '" + invocation.name() +
                     " -- ./train --epochs 3'");
  }
  know_torch_types();
  constexpr std::array<std::string_view, 2> kUnique{"stacks", "hits"};
  program::ProgramOptions options;
  choose(options.sweep, words);
  options.sweep.points = patterns("--points", words.points);
  fill_extent(options.sweep, words);
  options.sweep.seed = unsigned_number("--seed", words.seed);
  options.point_globs = words.points;
  options.every_hit = one_of("--unique", words.unique, kUnique) == "hits";
  options.no_fork = words.no_fork;
  options.jobs =
      static_cast<std::size_t>(whole_number("--jobs", words.jobs, 1, 256));
  options.atomic = words.atomic;
  options.files = words.files;
  options.follow = words.follow;
  options.check = words.check;
  options.stacks =
      words.stacks.empty() ? "" : absolute_path("--stacks", words.stacks);
  if (!words.limit.empty()) {
    options.limit = std::chrono::milliseconds(
        static_cast<long>(1e3 * number("--limit", words.limit, 0.01, 1e7)));
  }
  options.preload = preload_variables();
  if (options.preload.empty()) {
    throw InputError(
        "libmishap_preload.so is not beside this program nor in "
        "../lib/mishap; build or install all of Mishap");
  }
  options.torch_part = program::torch_part_for;
  options.repeat = [invocation, words, program](const std::string& id) {
    return repeat_text(invocation, words, program, id);
  };
  options.words = std::move(program);
  return options;
}

}  // namespace mishap::cli
