#pragma once

#include <mishap/faultinject/plan.h>
#include <mishap/faultinject/sweep/case.h>
#include <mishap/trainer/harness/program/program_options.h>
#include <mishap/trainer/harness/program/sightings.h>
#include <mishap/trainer/harness/program/stack_memory.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mishap::program {

/// The name under which a program's cases stand: `program:io/write:4:...`.
inline constexpr std::string_view kEntryPoint = "program";

struct PlannedCase {
  static constexpr std::size_t kNoStack = static_cast<std::size_t>(-1);
  faultinject::sweep::Case failing;
  /// Index into the stacks of the clean run.
  std::size_t stack = kNoStack;
  /// Its place among the plan's cases.
  std::size_t index = 0;
};

struct CasePlan {
  std::vector<PlannedCase> cases;
  /// Hits that the options choose × actions × modes.
  std::uint64_t total = 0;
  std::uint64_t hits = 0;
  std::uint64_t points = 0;
  /// Left out since an earlier sweep tried them.
  std::uint64_t remembered = 0;
};

/// The first level of a point's name, of `alloc/` the first two: the rows of
/// the report.
std::string layer_of(std::string_view point);

/// What happens at a point unless a person wants something else; empty for a
/// point of no known family.
std::string default_action(std::string_view point);

/// Whether that action means something there.
bool can_take(std::string_view point, const faultinject::Term& action);

/// Each chosen stack (or hit) × its actions × modes, without those that
/// `memory` knows, then the budget's even spread, then the shard's part.
/// Throws InputError when nothing is left to try.
CasePlan plan_cases(const Sightings& seen, const ProgramOptions& options,
                    const StackMemory& memory,
                    const std::vector<std::string>& stack_keys);

}  // namespace mishap::program
