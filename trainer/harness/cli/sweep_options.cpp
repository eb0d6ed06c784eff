#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/sweep/case_id.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/sweep_options.h>
#include <mishap/trainer/harness/cli/values.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace mishap::cli {
namespace {

namespace sweep = faultinject::sweep;

void refuse_deadly(const std::string& action) {
  using enum faultinject::ActionKind;
  switch (faultinject::parse_action(action).action) {
    case kExit:
    case kAbort:
    case kPanic:
    case kHang:
    case kPause:
    case kSignal:
      throw InputError("--actions: '" + action +
                       "' ends or stops the process that sweeps; 'mishap run "
                       "--faults' injects it into one run");
    default:
      break;
  }
}

std::vector<std::string> actions(const std::string& text) {
  std::vector<std::string> result = list(text);
  if (result.empty()) {
    throw InputError("--actions is empty; name such as throw(runtime)");
  }
  std::ranges::for_each(result, refuse_deadly);
  return result;
}

sweep::Options chosen(const SweepWords& words) {
  sweep::Options options = action_options(words.at_a_hit);
  options.entry_points = words.entry_points;
  options.points = patterns("--points", words.points);
  options.pairs = words.pairs;
  return options;
}

sweep::Options one_case(const SweepWords& words) {
  if (!words.entry_points.empty() || !words.points.empty() || words.pairs ||
      words.at_a_hit != ActionWords()) {
    throw InputError(
        "--case names entry point, point, action and mode itself; leave out "
        "--entry, --points, --actions, --mode and --pairs");
  }
  sweep::Options options;
  choose_case(options, words.only);
  std::ranges::for_each(options.actions, refuse_deadly);
  return options;
}

}  // namespace

std::vector<faultinject::NamePattern> patterns(
    std::string_view option, const std::vector<std::string>& texts) {
  std::vector<faultinject::NamePattern> result;
  for (const std::string& text : texts) {
    try {
      result.emplace_back(text);
    } catch (const std::invalid_argument& problem) {
      throw InputError(std::string(option) + ": " + problem.what());
    }
  }
  return result;
}

std::vector<sweep::Mode> modes(const std::string& text) {
  constexpr std::array<std::string_view, 3> kWords{"transient", "persistent",
                                                   "both"};
  const std::string word = one_of("--mode", text, kWords);
  if (word == "both") {
    return {sweep::Mode::kTransient, sweep::Mode::kPersistent};
  }
  return {word == "transient" ? sweep::Mode::kTransient
                              : sweep::Mode::kPersistent};
}

void add_mode_option(CommandLine& line, std::string& mode) {
  line.option("--mode", mode, "MODE",
              "transient: the hit fails; persistent: it and all later ones of "
              "its point; both");
}

void add_extent_options(CommandLine& line, ExtentWords& words) {
  line.option("--recovers", words.recovers, "GLOB",
              "points at which it may succeed although its fault fired, beside "
              "those that are declared so; may be repeated");
  line.option("--baseline", words.baseline, "FILE",
              "cases.jsonl of an earlier sweep: what it found is known, only "
              "new findings fail");
  line.option("--shard", words.shard, "I/N", "only the Ith of N parts");
  line.option("--budget", words.budget, "N",
              "only so many cases, spread evenly over all of them");
  line.option("--out", words.out, "DIR",
              "folder for records, cases and summary");
  line.flag("--json", words.json, "print the summary as JSON");
}

void fill_extent(sweep::Options& options, const ExtentWords& words) {
  options.recovers = patterns("--recovers", words.recovers);
  if (!words.shard.empty()) {
    options.shard = sweep::Shard::parse(words.shard);
  }
  if (!words.budget.empty()) {
    options.budget = static_cast<std::uint64_t>(
        whole_number("--budget", words.budget, 1, 1'000'000'000));
  }
  options.known = words.baseline;
  options.out = absolute_path("--out", words.out);
}

void add_action_options(CommandLine& line, ActionWords& words) {
  line.option("--actions", words.actions, "LIST", "what happens at a hit");
  add_mode_option(line, words.mode);
}

void add_sweep_options(CommandLine& line, SweepWords& words) {
  line.option("--entry", words.entry_points, "NAME",
              "only this entry point; may be repeated");
  line.option("--points", words.points, "GLOB",
              "only points that match, such as 'hook/*/module'; may be "
              "repeated");
  add_action_options(line, words.at_a_hit);
  line.flag("--pairs", words.pairs,
            "two faults a case: the second at every hit that follows the "
            "first, until the call returns");
  line.option("--case", words.only, "ID",
              "only the case that has this id in cases.jsonl, be it a pair");
  add_extent_options(line, words);
  line.not_yet("--jobs", "run several with --shard I/N, each with its --out");
}

sweep::Options action_options(const ActionWords& words) {
  sweep::Options options;
  options.actions = actions(words.actions);
  options.modes = modes(words.mode);
  return options;
}

sweep::Options sweep_options(const SweepWords& words, std::uint64_t seed) {
  sweep::Options options = words.only.empty() ? chosen(words) : one_case(words);
  fill_extent(options, words);
  options.seed = seed;
  return options;
}

}  // namespace mishap::cli
