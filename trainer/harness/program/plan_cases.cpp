#include <mishap/faultinject/sweep/enumerate.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/plan_cases.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace mishap::program {
namespace {

using faultinject::ActionKind;
using faultinject::NamePattern;
using faultinject::Term;
namespace sweep = faultinject::sweep;

constexpr std::array<std::pair<std::string_view, std::string_view>, 9>
    kDefaults{{{"alloc/new", "throw(bad_alloc)"},
               {"alloc/cpu", "errno(ENOMEM)"},
               {"io/open", "errno(EMFILE)"},
               {"io/read", "errno(EIO)"},
               {"io/write", "errno(ENOSPC)"},
               {"io/fsync", "errno(EIO)"},
               {"io/rename", "errno(EIO)"},
               {"io/close", "errno(EIO)"},
               {"io/mkdir", "errno(ENOSPC)"}}};

struct Target {
  std::string point;
  std::uint64_t hit = 0;
  std::size_t stack = PlannedCase::kNoStack;
};

bool is_chosen(std::string_view point, const sweep::Options& options) {
  return options.points.empty() ||
         std::ranges::any_of(options.points, [&](const NamePattern& pattern) {
           return pattern.selects(point);
         });
}

// The interpreter loads the program: what fails there is not its code.
bool is_source(const SeenStack& stack, const Sightings& seen,
               const ProgramOptions& options) {
  return seen.has_python && options.files.empty() &&
         stack.path.ends_with(".py") && stack.point.starts_with("io/");
}

std::vector<Target> targets_of(const Sightings& seen,
                               const ProgramOptions& options) {
  std::vector<Target> targets;
  const auto& only = options.sweep.only;
  for (std::size_t i = 0; i < seen.stacks.size(); ++i) {
    const SeenStack& stack = seen.stacks[i];
    if (!only && !options.every_hit && !is_source(stack, seen, options) &&
        is_chosen(stack.point, options.sweep)) {
      targets.push_back({stack.point, stack.first_hit, i});
    }
  }
  if (only) {
    const auto point = seen.points.find(only->point);
    if (point == seen.points.end() || only->index > point->second) {
      throw InputError("there is no hit " + std::to_string(only->index) +
                       " of " + only->point + " in this program" +
                       (point == seen.points.end()
                            ? ""
                            : ", only " + std::to_string(point->second)) +
                       "; 'mishap points -- " + options.words.front() +
                       "' lists them");
    }
    targets.push_back({only->point, only->index, PlannedCase::kNoStack});
  }
  for (const auto& [point, hits] : seen.points) {
    for (std::uint64_t hit = 1; options.every_hit && !only && hit <= hits;
         ++hit) {
      if (is_chosen(point, options.sweep)) {
        targets.push_back({point, hit, PlannedCase::kNoStack});
      }
    }
  }
  for (Target& target : targets) {
    for (std::size_t i = 0;
         target.stack == PlannedCase::kNoStack && i < seen.stacks.size(); ++i) {
      if (seen.stacks[i].point == target.point &&
          seen.stacks[i].first_hit == target.hit) {
        target.stack = i;
      }
    }
  }
  return targets;
}

bool may_recover(std::string_view point, const sweep::Options& options) {
  return std::ranges::any_of(options.recovers, [&](const NamePattern& pattern) {
    return pattern.selects(point);
  });
}

std::vector<std::string> actions_at(const std::string& point,
                                    const sweep::Options& options) {
  if (options.actions.empty()) {
    const std::string action = default_action(point);
    return action.empty() ? std::vector<std::string>()
                          : std::vector<std::string>{action};
  }
  std::vector<std::string> actions;
  for (const std::string& text : options.actions) {
    if (can_take(point, faultinject::parse_action(text))) {
      actions.push_back(text);
    }
  }
  return actions;
}

}  // namespace

std::string layer_of(std::string_view point) {
  const std::size_t first = point.find('/');
  if (!point.starts_with("alloc/")) {
    return std::string(point.substr(0, first));
  }
  return std::string(point.substr(0, point.find('/', first + 1)));
}

std::string default_action(std::string_view point) {
  if (point.starts_with("op/")) {
    return "throw(c10)";
  }
  for (const auto& [name, action] : kDefaults) {
    if (name == point) {
      return std::string(action);
    }
  }
  return {};
}

bool can_take(std::string_view point, const Term& action) {
  using enum ActionKind;
  switch (action.action) {
    case kThrow:
      return point.starts_with("op/") || point == "alloc/new";
    case kErrno:
      return point.starts_with("io/") || point == "alloc/cpu";
    case kShort:
      return point == "io/read" || point == "io/write";
    case kTorn:
      return point == "io/write";
    case kSleep:
    case kDelay:
    case kPanic:
    case kInterrupt:
    case kSignal:
    case kAbort:
    case kExit:
    case kHang:
      return true;
    default:
      return false;
  }
}

CasePlan plan_cases(const Sightings& seen, const ProgramOptions& options,
                    const StackMemory& memory,
                    const std::vector<std::string>& stack_keys) {
  CasePlan plan;
  std::vector<PlannedCase> all;
  const std::vector<Target> targets = targets_of(seen, options);
  std::map<std::string, std::uint64_t> points;
  for (const Target& target : targets) {
    for (const std::string& action : actions_at(target.point, options.sweep)) {
      for (const sweep::Mode mode : options.sweep.modes) {
        PlannedCase planned{
            sweep::make_case(kEntryPoint, faultinject::intern(target.point),
                             target.hit, action, mode),
            target.stack, 0};
        planned.failing.may_recover = may_recover(target.point, options.sweep);
        ++points[target.point];
        ++plan.total;
        if (target.stack < stack_keys.size() &&
            memory.knows(stack_keys[target.stack], planned.failing)) {
          ++plan.remembered;
        } else {
          all.push_back(std::move(planned));
        }
      }
    }
  }
  plan.points = points.size();
  plan.hits = targets.size();
  if (plan.total == 0) {
    throw InputError(
        targets.empty()
            ? "no point that was hit matches --points; 'mishap points -- " +
                  options.words.front() + "' lists them"
            : "none of --actions means anything at these points; operators "
              "and alloc/new take throw(...), files and alloc/cpu errno(...), "
              "io/read and io/write short(...), io/write torn(...), all "
              "signal(...), abort, exit(...), hang, sleep(...)");
  }
  for (const std::uint64_t index :
       sweep::chosen_cases(all.size(), options.sweep)) {
    plan.cases.push_back(all[index]);
    plan.cases.back().index = plan.cases.size() - 1;
  }
  return plan;
}

}  // namespace mishap::program
