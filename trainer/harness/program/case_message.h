#pragma once

#include <mishap/trainer/harness/program/case_judge.h>

#include <cstddef>
#include <optional>
#include <string>

namespace mishap::program {

/// What a job tells the sweep that started it.
struct JobMessage {
  enum class Kind : int {
    /// Its files are there and the program succeeds in them.
    kReady,
    /// It can't begin: `text` says why.
    kFailed,
    kResult,
    /// All is done: `again` cases were run again, `text` says why.
    kEnd,
  };
  Kind kind = Kind::kReady;
  std::string text;
  std::size_t again = 0;
  bool left_states_out = false;
  /// Of the case in the plan.
  std::size_t index = 0;
  /// All but `failing`, which both know.
  CaseResult result;
};

/// The message with its length before it. `shared` modules at the front of the
/// list are known to both sides.
std::string packed(const JobMessage& message, const ModuleList& modules,
                   std::size_t shared);
/// Takes the first whole message out of what came; nothing when there is none.
/// Its modules are added to `modules`.
std::optional<JobMessage> take_message(std::string& came, ModuleList& modules,
                                       std::size_t shared);

}  // namespace mishap::program
