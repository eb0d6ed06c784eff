#include <mishap/faultinject/plan.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/cli/sweep_options.h>
#include <mishap/trainer/harness/cli/values.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace mishap::cli {
namespace {

namespace sweep = faultinject::sweep;

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

std::vector<std::string> actions(const std::string& text) {
  std::vector<std::string> result = list(text);
  if (result.empty()) {
    throw InputError("--actions is empty; name such as throw(runtime)");
  }
  for (const std::string& action : result) {
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
  return result;
}

}  // namespace

void add_sweep_options(CommandLine& line, SweepWords& words) {
  line.option("--entry", words.entry_points, "NAME",
              "only this entry point; may be repeated");
  line.option("--points", words.points, "GLOB",
              "only points that match, such as 'hook/*/module'; may be "
              "repeated");
  line.option("--actions", words.actions, "LIST", "what happens at a hit");
  line.option("--mode", words.mode, "MODE",
              "transient: the hit fails; persistent: it and all later ones of "
              "its point; both");
  line.option("--recovers", words.recovers, "GLOB",
              "points at which a run may succeed although its fault fired");
  line.option("--baseline", words.baseline, "FILE",
              "cases.jsonl of an earlier sweep: what it found is known, only "
              "new findings fail");
  line.option("--shard", words.shard, "I/N", "only the Ith of N parts");
  line.option("--budget", words.budget, "N",
              "only so many cases, spread evenly");
  line.option("--out", words.out, "DIR",
              "folder for records, cases and summary");
  line.flag("--json", words.json, "print the summary as JSON");
  line.not_yet("--pairs", "faults come one at a time");
  line.not_yet("--jobs", "run several with --shard I/N, each with its --out");
}

sweep::Options sweep_options(const SweepWords& words, std::uint64_t seed) {
  sweep::Options options;
  options.entry_points = words.entry_points;
  options.points = patterns("--points", words.points);
  options.actions = actions(words.actions);
  options.modes = modes(words.mode);
  options.recovers = patterns("--recovers", words.recovers);
  if (!words.shard.empty()) {
    options.shard = sweep::Shard::parse(words.shard);
  }
  if (!words.budget.empty()) {
    options.budget = static_cast<std::uint64_t>(
        whole_number("--budget", words.budget, 1, 1'000'000'000));
  }
  options.seed = seed;
  options.known = words.baseline;
  options.out = absolute_path("--out", words.out);
  return options;
}

}  // namespace mishap::cli
