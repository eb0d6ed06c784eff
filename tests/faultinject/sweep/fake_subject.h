#pragma once

#include <mishap/faultinject/hit.h>
#include <mishap/faultinject/hit_trace.h>
#include <mishap/faultinject/scenario.h>
#include <mishap/faultinject/sweep/subject.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mishap::faultinject::sweep {

/// A program of nothing but points, really run under really armed faults; its
/// guard holds unless told to fail.
class FakeSubject : public Subject {
 public:
  std::map<std::string, std::vector<std::string>> programs = {
      {"fit", {"hook/a/module", "hook/b/module", "hook/a/module:after"}},
      {"test", {"hook/a/module", "hook/a/module"}}};
  /// Points whose faults nobody hears of.
  std::vector<std::string> swallowing;
  /// What a run hits after it failed. Errors there are kept from the caller.
  std::vector<std::string> cleanup;
  /// Changes what a run hits; told which run of its entry point it is, from 1.
  std::function<void(int run, std::vector<std::string>& points)> unsteady;
  /// Changes the verdict.
  std::function<void(const Case&, Verdict&)> judged;

  std::vector<Case> cases;
  std::vector<std::string> scouted;

  std::vector<std::string> entry_points() override {
    std::vector<std::string> names;
    for (const auto& [name, points] : programs) names.push_back(name);
    return names;
  }

  std::vector<PointId> baseline(std::string_view entry_point) override {
    const HitTrace trace;
    walk(entry_point);
    return trace.sequence();
  }

  Scouted scout(const Case& first) override {
    scouted.push_back(first.id);
    const auto scenario = arm(Plan::parse(first.spec));
    const HitTrace trace;
    const bool failed = fails(first.entry_point);
    return {trace.sequence(), failed};
  }

  Verdict run(const Case& failing) override {
    const auto scenario = arm(Plan::parse(failing.spec));
    const bool failed = fails(failing.entry_point);
    Verdict verdict;
    if (!has_fired(failing, scenario)) {
      verdict.outcome = Outcome::kNotFired;
    } else {
      cases.push_back(failing);
      verdict.outcome = failed ? Outcome::kHeld : Outcome::kSwallowed;
      verdict.checked = {"C1", "C2"};
      verdict.record_id = failing.id;
    }
    if (judged) judged(failing, verdict);
    return verdict;
  }

 private:
  bool fails(std::string_view entry_point) {
    try {
      walk(entry_point);
    } catch (const std::runtime_error&) {
      for (const std::string& point : cleanup) {
        try {
          hit(intern(point));
        } catch (const std::runtime_error&) {
        }
      }
      return true;
    }
    return false;
  }

  void walk(std::string_view entry_point) {
    const std::string name(entry_point);
    std::vector<std::string> points = programs.at(name);
    if (unsteady) unsteady(++runs_[name], points);
    for (const std::string& point : points) {
      const bool is_swallowing = std::find(swallowing.begin(), swallowing.end(),
                                           point) != swallowing.end();
      try {
        hit(intern(point));
      } catch (const std::runtime_error&) {
        if (!is_swallowing) throw;
      }
    }
  }

  std::map<std::string, int> runs_;
};

}  // namespace mishap::faultinject::sweep
