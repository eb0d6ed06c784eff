#include <mishap/faultinject/plan.h>
#include <mishap/trainer/harness/program/judge.h>
#include <string.h>
#include <sys/wait.h>

namespace mishap::program {
namespace {

using faultinject::ActionKind;
using faultinject::sweep::Case;
using faultinject::sweep::Outcome;
using faultinject::sweep::Verdict;

ActionKind kind_of(std::string_view action) {
  return faultinject::parse_action(action).action;
}

class Clauses {
 public:
  explicit Clauses(Verdict& verdict) : verdict_(verdict) {}

  void look(std::string_view name, bool is_checked, bool is_good,
            const std::string& what) {
    if (!is_checked) {
      return;
    }
    verdict_.checked.emplace_back(name);
    if (!is_good) {
      verdict_.violated.emplace_back(name);
      say(what);
    }
  }
  void say(const std::string& what) {
    verdict_.note += verdict_.note.empty() ? what : "; " + what;
  }

 private:
  Verdict& verdict_;
};

std::string listed(const std::vector<std::string>& paths) {
  std::string text = paths.empty() ? "" : paths.front();
  if (paths.size() > 1) {
    text += " and " + std::to_string(paths.size() - 1) + " more";
  }
  return text;
}

std::string signal_text(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name)
                         : "signal " + std::to_string(signal);
}

void look_at_clauses(const CaseFacts& facts, Clauses& clauses) {
  if (facts.torn) {
    clauses.look("atomic", true, facts.torn->empty(),
                 listed(*facts.torn) +
                     " is neither as before nor as a clean run has it");
  }
  if (facts.stray) {
    clauses.look("stray", true, facts.stray->empty(),
                 listed(*facts.stray) + " is left");
  }
  if (facts.children) {
    clauses.look("children", true, *facts.children == 0,
                 std::to_string(*facts.children) + " processes are left");
  }
  if (facts.rerun) {
    clauses.look("rerun", true, facts.rerun->empty(), *facts.rerun);
  }
  if (facts.check) {
    clauses.look("check", true, facts.check->empty(), *facts.check);
  }
}

Outcome outcome_of(const Case& failing, const CaseFacts& facts,
                   const Verdict& verdict, Clauses& clauses) {
  const Outcome held =
      verdict.violated.empty() ? Outcome::kHeld : Outcome::kViolated;
  if (facts.was_hung) {
    clauses.say("it did not end within the limit");
    return Outcome::kHung;
  }
  if (is_deadly(failing.action)) {
    return held;
  }
  if (WIFSIGNALED(facts.wait_status)) {
    clauses.say("it was ended by " + signal_text(WTERMSIG(facts.wait_status)));
    return Outcome::kCrashed;
  }
  if (WEXITSTATUS(facts.wait_status) != 0) {
    return held;
  }
  const ActionKind kind = kind_of(failing.action);
  const bool is_no_failure =
      kind == ActionKind::kSleep || kind == ActionKind::kDelay ||
      (kind == ActionKind::kShort && facts.is_as_clean) ||
      // Nothing can be lost by it.
      (name_of(failing.point) == "io/close" && facts.is_only_read &&
       facts.is_as_clean);
  if (failing.may_recover || is_no_failure) {
    return verdict.violated.empty() ? Outcome::kRecovered : Outcome::kViolated;
  }
  clauses.say("it exited with status 0");
  return Outcome::kSwallowed;
}

}  // namespace

bool is_deadly(std::string_view action) {
  switch (kind_of(action)) {
    case ActionKind::kSignal:
    case ActionKind::kInterrupt:
    case ActionKind::kAbort:
    case ActionKind::kPanic:
    case ActionKind::kExit:
      return true;
    default:
      return false;
  }
}

Verdict judge(const Case& failing, const CaseFacts& facts) {
  Verdict verdict;
  if (!facts.has_fired) {
    verdict.outcome = Outcome::kNotFired;
    verdict.note = "the run ended before that hit";
    return verdict;
  }
  Clauses clauses(verdict);
  look_at_clauses(facts, clauses);
  verdict.outcome = outcome_of(failing, facts, verdict, clauses);
  return verdict;
}

}  // namespace mishap::program
