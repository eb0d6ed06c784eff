#pragma once

#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/scenario.h>

#include <exception>
#include <string>
#include <string_view>

namespace mishap::faultinject {

/// The text of the std::exception that `body` throws; "nothing" without one.
template <typename Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

/// Hits `point` so often and writes what happened: '.' nothing, 'X' thrown.
inline std::string hits(std::string_view point, int count,
                        const HitContext& context = {}) {
  const PointId id = intern(point);
  std::string log;
  for (int i = 0; i < count; ++i) {
    try {
      hit(id, context);
      log += '.';
    } catch (...) {
      log += 'X';
    }
  }
  return log;
}

inline Scenario arm_text(std::string_view plan,
                         Scope scope = Scope::process()) {
  return arm(Plan::parse(plan), scope);
}

}  // namespace mishap::faultinject
