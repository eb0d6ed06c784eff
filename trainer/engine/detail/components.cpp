#include <mishap/trainer/engine/detail/components.h>

#include <algorithm>

namespace mishap::detail {
namespace {

bool may_stand_in_a_point(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':' ||
         c == '#' || c == '-';
}

}  // namespace

const FixedComponents& fixed_components() {
  static const FixedComponents components;
  return components;
}

Component ComponentNames::add(const std::string& prefix,
                              const std::string& own_name,
                              const std::string& class_name) {
  const bool usable =
      std::all_of(own_name.begin(), own_name.end(), may_stand_in_a_point);
  if (!usable && problem_.empty()) {
    problem_ = class_name + "::name() is \"" + own_name +
               "\"; use letters, digits and _ . : # - only";
  }
  const std::string base =
      prefix + (own_name.empty() || !usable ? class_name : own_name);
  std::string name = base;
  for (int count = 2;
       std::find(taken_.begin(), taken_.end(), name) != taken_.end(); ++count) {
    name = base + "#" + std::to_string(count);
  }
  taken_.push_back(name);
  return Component::named(name);
}

}  // namespace mishap::detail
