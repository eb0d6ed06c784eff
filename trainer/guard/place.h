#pragma once

#include <mishap/trainer/guard/component.h>
#include <mishap/trainer/guard/hook.h>
#include <mishap/trainer/guard/words.h>

#include <cstdint>

namespace mishap {

/// Where a run is. Counters are zero-based; -1 means that the run has not got
/// there (no epoch in `predict`, no batch in `setup`).
struct Place {
  Stage stage = Stage::kConfigure;
  Hook hook = Hook::kNone;
  Component component;
  std::int64_t epoch = -1;
  std::int64_t batch = -1;
  /// Optimizer steps done so far in a fit; the number given to Run::step() in
  /// an own loop.
  std::int64_t step = -1;
};

}  // namespace mishap
