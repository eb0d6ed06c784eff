#include <mishap/trainer/harness/program/case_judge.h>
#include <mishap/trainer/harness/program/file_clauses.h>
#include <sys/wait.h>

#include <algorithm>

namespace mishap::program {
namespace {

using faultinject::sweep::Case;

constexpr auto kShortestLimit = std::chrono::milliseconds(10'000);
constexpr int kTimesAsLong = 10;

std::string last_line(const std::string& errors) {
  const std::size_t end = errors.find_last_not_of('\n');
  if (end == std::string::npos) {
    return {};
  }
  const std::size_t begin = errors.rfind('\n', end);
  const std::string line =
      errors.substr(begin == std::string::npos ? 0 : begin + 1,
                    end - (begin == std::string::npos ? 0 : begin + 1) + 1);
  return ": " + line.substr(0, 200);
}

}  // namespace

std::chrono::milliseconds limit_of(const ProgramOptions& options,
                                   const CleanRun& clean) {
  const auto usual = std::chrono::duration_cast<std::chrono::milliseconds>(
      kTimesAsLong * clean.time);
  return options.limit.value_or(std::max(usual, kShortestLimit));
}

const CaseJudge::After* CaseJudge::after(std::uint64_t state) {
  const auto known = after_.find(state);
  if (known != after_.end()) {
    return &known->second;
  }
  if (after_.size() >= kMaxStates) {
    has_left_states_out_ = true;
    return nullptr;
  }
  After result;
  const auto limit = limit_of(bench_.options(), clean_);
  if (!bench_.options().check.empty()) {
    const RunEnd end = bench_.run(Role::kCheck, limit);
    bench_.keeper().end_all(bench_.standing);
    if (!end.is_success()) {
      result.check = "the check " + text_of(end) + last_line(end.errors);
    }
  }
  const RunEnd end = bench_.run(Role::kClean, limit);
  bench_.keeper().end_all(bench_.standing);
  if (!end.is_success()) {
    result.rerun = "run again on what was left, it " + text_of(end) +
                   last_line(end.errors);
  }
  return &after_.emplace(state, std::move(result)).first->second;
}

// A program that went on without something that it could not read writes
// another content than usual, and that is whole.
bool CaseJudge::is_fault_of_a_save(const Case& failing,
                                   const FaultStory& story) const {
  const std::string_view point = name_of(failing.point);
  if (point == "io/write" || point == "io/fsync" || point == "io/rename") {
    return true;
  }
  const auto touched = clean_.files.touches.find(story.path);
  return (point == "io/open" || point == "io/close") &&
         touched != clean_.files.touches.end();
}

CaseResult CaseJudge::judge(const Case& failing, RunEnd end) {
  CaseResult result;
  result.failing = failing;
  result.end = std::move(end);
  result.story = read_story(bench_.control(), bench_.modules());
  CaseFacts facts;
  facts.has_fired = result.story.has_fired;
  facts.was_hung = result.end.was_hung;
  facts.wait_status = result.end.wait_status;
  const bool was_killed = facts.was_hung || WIFSIGNALED(facts.wait_status) ||
                          is_deadly(failing.action);
  const std::size_t left = bench_.keeper().left_behind(bench_.standing).size();
  bench_.keeper().end_all(bench_.standing);
  if (facts.has_fired) {
    if (!clean_.leaves_children && !was_killed) {
      facts.children = left;
    }
    const ProgramOptions& options = bench_.options();
    const FilesLeft files = look_at_files(
        bench_.files(), clean_.files, options.atomic, bench_.current_folder());
    const bool is_failure = facts.was_hung || facts.wait_status != 0;
    if (is_failure || is_fault_of_a_save(failing, result.story)) {
      facts.torn = files.torn;
    }
    if (!was_killed && !clean_.files.has_random_names) {
      facts.stray = files.stray;
    }
    facts.is_as_clean = files.is_as_clean;
    facts.is_only_read = !result.story.path.empty() &&
                         !clean_.files.touches.contains(result.story.path);
    if (const After* const next = after(files.state)) {
      facts.rerun = next->rerun;
      if (!options.check.empty()) {
        facts.check = next->check;
      }
    }
  }
  result.verdict = mishap::program::judge(failing, facts);
  return result;
}

}  // namespace mishap::program
