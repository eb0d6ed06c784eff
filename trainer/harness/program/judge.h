#pragma once

#include <mishap/faultinject/sweep/case.h>
#include <mishap/faultinject/sweep/verdict.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mishap::program {

/// The promises that are looked at from outside, in the order of the report.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 5>
    kClauses{{{"atomic", "a file is old or new, never in between"},
              {"stray", "no new file is left"},
              {"children", "no process is left"},
              {"rerun", "it runs again on what was left"},
              {"check", "the check passes on what was left"}}};

/// All that is known of how a case ended; what was not looked at is empty.
struct CaseFacts {
  bool has_fired = false;
  bool was_hung = false;
  /// As waitpid() gives it.
  int wait_status = 0;
  std::optional<std::vector<std::string>> torn;
  std::optional<std::vector<std::string>> stray;
  bool is_as_clean = false;
  /// The file of the failed call is one that the program only reads.
  bool is_only_read = false;
  /// How many processes were left.
  std::optional<std::size_t> children;
  /// What went wrong in them; an empty text: nothing.
  std::optional<std::string> rerun;
  std::optional<std::string> check;
};

/// Whether the process is meant to end of that action: an end by a signal or
/// with a status is the fault itself.
bool is_deadly(std::string_view action);

/// Outcome, clauses and a note for a person. `micros` and `record_id` are the
/// caller's.
faultinject::sweep::Verdict judge(const faultinject::sweep::Case& failing,
                                  const CaseFacts& facts);

}  // namespace mishap::program
