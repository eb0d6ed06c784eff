#include <mishap/faultinject/sweep/case.h>

namespace mishap::faultinject::sweep {

std::string_view to_string(Mode mode) {
  return mode == Mode::kTransient ? "transient" : "persistent";
}

std::string case_spec(std::string_view point, std::uint64_t hit,
                      std::string_view action, Mode mode) {
  std::string spec(point);
  spec += '=';
  if (hit > 1) spec += std::to_string(hit - 1) + "*off->";
  if (mode == Mode::kTransient) spec += "1*";
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

}  // namespace mishap::faultinject::sweep
