#include <mishap/faultinject/sweep/case.h>

namespace mishap::faultinject::sweep {
namespace {

// Terms that let `before` hits pass, then fail one.
std::string fails_one_after(std::uint64_t before, std::string_view action) {
  std::string terms;
  if (before > 0) terms += std::to_string(before) + "*off->";
  return terms.append("1*").append(action);
}

}  // namespace

std::string_view to_string(Mode mode) {
  return mode == Mode::kTransient ? "transient" : "persistent";
}

std::string case_spec(std::string_view point, std::uint64_t hit,
                      std::string_view action, Mode mode) {
  std::string spec(point);
  spec += '=';
  if (mode == Mode::kTransient) return spec + fails_one_after(hit - 1, action);
  if (hit > 1) spec += std::to_string(hit - 1) + "*off->";
  spec += action;
  return spec;
}

Case make_case(std::string_view entry_point, PointId point, std::uint64_t hit,
               std::string_view action, Mode mode) {
  const std::string_view name = name_of(point);
  Case made;
  made.id.reserve(entry_point.size() + name.size() + action.size() + 24);
  made.id.append(entry_point).append(":").append(name).append(":");
  made.id.append(std::to_string(hit)).append(":").append(action).append(":");
  made.id.append(to_string(mode));
  made.entry_point = entry_point;
  made.point = point;
  made.hit = hit;
  made.action = action;
  made.mode = mode;
  made.spec = case_spec(name, hit, action, mode);
  return made;
}

Case pair_of(Case first, const SecondFault& second) {
  const auto& [point, hit] = second.hit;
  const std::string_view name = name_of(point);
  first.id.append("+").append(name).append(":").append(std::to_string(hit));
  if (point == first.point) {
    // Counts belong to a rule: a second rule for the point would not be asked
    // about the hit that the first one ends.
    first.spec += "->" + fails_one_after(hit - first.hit - 1, first.action);
  } else {
    first.spec += ";" + case_spec(name, hit, first.action, Mode::kTransient);
  }
  first.second = second;
  return first;
}

bool has_fired(const Case& failing, const Scenario& armed) {
  if (armed.fired(0) == 0) return false;
  if (!failing.second) return true;
  return failing.second->hit.point == failing.point ? armed.fired(0) > 1
                                                    : armed.fired(1) > 0;
}

}  // namespace mishap::faultinject::sweep
