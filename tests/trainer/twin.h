#pragma once

#include <mishap/trainer/guard/steps.h>
#include <mishap/trainer/testing/trainer_world.h>

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace mishap::testing {

/// The real trainer with one change, and the clauses that have to notice.
struct Twin {
  std::string name;
  std::set<std::string> clauses;
  /// The step list of its guard.
  StepList steps = standard_steps();
  WorldFactory worlds;
  /// Of the points that are failed; empty: all of a fit.
  std::string points;
  std::vector<std::string> actions = {"throw(runtime)", "interrupt(SIGINT)"};
  /// Of each piece of cleanup, as the judge knows it.
  std::chrono::milliseconds cleanup_limit = GuardOptions{}.cleanup_limit;
  /// Called once in the process of the twin, before anything else.
  void (*prepare)() = nullptr;
};

/// One twin for each clause that a sweep judges.
std::vector<Twin> clause_twins();

/// The guard with each one of its steps left out.
std::vector<Twin> twins_without_a_step();

/// The world of the digits task, as every sweep of it sees it.
TaskParts tiny_parts(Journal& journal);

}  // namespace mishap::testing
