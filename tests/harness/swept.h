#pragma once

#include <mishap/faultinject/sweep/driver.h>
#include <mishap/trainer/harness/contract/contract_subject.h>

#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../temp_folder.h"
#include "fake_world.h"

namespace mishap::testing {

using faultinject::sweep::Outcome;

/// What a sweep of a fit gave.
struct Swept {
  faultinject::sweep::Summary summary;
  std::set<std::string> violated;
  /// Of the first case that has one.
  std::string note;
  /// The lines of its records.
  std::vector<std::string> records;
};

/// Faults of each kind that a guard tells apart.
inline faultinject::sweep::Options all_kinds() {
  faultinject::sweep::Options options;
  options.actions = {"throw(runtime)", "throw(int)", "throw(nested)",
                     "interrupt(SIGINT)"};
  return options;
}

inline Swept sweep(WorldFactory factory,
                   faultinject::sweep::Options options = all_kinds(),
                   const StepList& steps = standard_steps(),
                   HarnessOptions harness = {}) {
  const TempFolder folder;
  harness.capture.records = folder.path();
  harness.guard.steps = &steps;
  ContractSubject subject(std::move(factory), {"fit"}, harness);
  Swept result;
  result.summary = run_sweep(
      subject, options, [&](const faultinject::sweep::Progress& progress) {
        if (result.note.empty() && !progress.verdict.note.empty()) {
          result.note = progress.failing.id + ": " + progress.verdict.note;
        }
      });
  for (const auto& clause : result.summary.clauses) {
    if (clause.violated > 0) {
      result.violated.insert(clause.name);
    }
  }
  std::ifstream records(folder.path() + "/records.jsonl");
  for (std::string line; std::getline(records, line);) {
    result.records.push_back(line);
  }
  return result;
}

template <typename W = FakeWorld>
WorldFactory world() {
  return [] { return std::make_unique<W>(); };
}

}  // namespace mishap::testing
