#include <mishap/faultinject/catalogue.h>
#include <mishap/faultinject/plan_check.h>
#include <mishap/faultinject/suggestion.h>

#include <algorithm>
#include <set>

namespace mishap::faultinject {
namespace {

constexpr std::string_view kUser = "user";

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string_view family_of(std::string_view name) {
  return name.substr(0, name.find('/'));
}

std::string_view without_after(std::string_view name) {
  return name.ends_with(kAfter) ? name.substr(0, name.size() - kAfter.size())
                                : name;
}

std::vector<std::string_view> declared_names(std::string_view family) {
  std::vector<std::string_view> names;
  for (const PointInfo& info : catalogue()) {
    if (family_of(info.name) == family) names.push_back(info.name);
  }
  return names;
}

void check_user_name(const Plan& plan, const Rule& rule) {
  if (rule.name.family() != kUser) return;
  if (rule.name.is_after()) {
    throw PlanError(plan.source, rule.place,
                    quoted(rule.name.text()) +
                        " can't be: a point in user code has no body to be "
                        "after",
                    "leave ':after' out");
  }
  if (find_declared(rule.name.text())) return;
  const auto names = declared_names(kUser);
  const auto is_match = [&](std::string_view name) {
    return rule.name.matches(name);
  };
  if (std::any_of(names.begin(), names.end(), is_match)) return;
  throw PlanError(plan.source, rule.place,
                  "this program has no point " + quoted(rule.name.text()),
                  names.empty()
                      ? "it has no MISHAP_FAULT_POINT at all"
                      : did_you_mean(rule.name.text(), names,
                                     "its points are " + join(names)));
}

std::string needs_text(const Term& term, std::string_view whose) {
  return quoted(action(term.action).word) + " can't be done at " +
         std::string(whose);
}

void check_family(const Plan& plan, const Rule& rule, const Term& term) {
  for (const Family& family : families()) {
    const bool is_meant = rule.name.family() == "**" ||
                          level_matches(rule.name.family(), family.name);
    if (is_meant && !allows(family.capabilities, action(term.action).needs)) {
      throw PlanError(
          plan.source, term.place,
          needs_text(term, quoted(std::string(family.name) + "/…") + " points"),
          rule.name.has_glob() ? "narrow the pattern, or choose another action"
                               : "choose another action or another point");
    }
  }
}

void check_point(const Plan& plan, std::string_view point, const Term& term) {
  const std::string reason = cannot_take(point, term);
  if (reason.empty()) return;
  throw PlanError(plan.source, term.place, reason,
                  "choose another action or another point");
}

void check_points(const Plan& plan, const Rule& rule, const Term& term) {
  if (!rule.name.has_glob()) return check_point(plan, rule.name.text(), term);
  for (const PointInfo& info : catalogue()) {
    if (rule.name.matches(info.name)) check_point(plan, info.name, term);
  }
}

std::string advice_for(std::string_view name,
                       std::span<const std::string> known) {
  std::vector<std::string_view> family;
  for (const std::string& other : known) {
    if (family_of(other) == family_of(name)) {
      family.push_back(without_after(other));
    }
  }
  return did_you_mean(without_after(name), family,
                      "'mishap points' lists the points there are");
}

}  // namespace

void check_against_program(const Plan& plan) {
  for (const Rule& rule : plan.rules) {
    check_user_name(plan, rule);
    for (const Term& term : rule.terms) {
      const ArgumentsRead read = action(term.action).read(term.arguments);
      if (!read.problem.empty()) {
        throw PlanError(plan.source, term.place, read.problem, read.advice);
      }
      check_family(plan, rule, term);
      check_points(plan, rule, term);
    }
  }
}

std::string cannot_take(std::string_view point, const Term& term) {
  const Action& row = action(term.action);
  const auto declared = find_declared(point);
  const Family* family = find_family(family_of(point));
  const Capability can = declared != std::nullopt ? declared->capabilities
                         : family != nullptr      ? family->capabilities
                                                  : Capability::kControl;
  if (!allows(can, row.needs)) {
    return needs_text(term, quoted(point));
  }
  if (term.action != ActionKind::kReturn || !declared ||
      declared->check_return == nullptr) {
    return "";
  }
  const std::string reason = declared->check_return(
      term.arguments.empty() ? std::string_view() : term.arguments.front());
  if (reason.empty()) return "";
  return quoted(action_text(term)) + " can't be done at " + quoted(point) +
         ": " + reason;
}

std::vector<Problem> Plan::unmatched(
    std::span<const std::string> known_names) const {
  std::set<std::string_view> known_families;
  for (const std::string& name : known_names) {
    known_families.insert(family_of(name));
  }
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const NamePattern& pattern = rules[i].name;
    const bool is_open = pattern.family().find('*') != std::string_view::npos;
    if (!is_open && !known_families.contains(pattern.family())) continue;
    const auto is_match = [&](std::string_view name) {
      std::string point(without_after(name));
      if (pattern.is_after()) point += kAfter;
      return pattern.matches(point);
    };
    if (std::any_of(known_names.begin(), known_names.end(), is_match)) continue;
    if (is_open) {
      const auto declared = catalogue();
      if (std::any_of(declared.begin(), declared.end(),
                      [&](const PointInfo& info) {
                        return pattern.matches(info.name);
                      })) {
        continue;
      }
    }
    const PlanError error(
        source, rules[i].place,
        "no point of this run is called " + quoted(pattern.text()),
        advice_for(pattern.text(), known_names));
    problems.push_back({i, pattern.text(), error.what()});
  }
  return problems;
}

}  // namespace mishap::faultinject
