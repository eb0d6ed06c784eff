#include <mishap/trainer/harness/program/run_cases.h>
#include <mishap/trainer/harness/program/stop_signal.h>
#include <mishap/trainer/harness/program/turn_wait.h>
#include <signal.h>

#include <algorithm>
#include <optional>

namespace mishap::program {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kMoment = std::chrono::milliseconds(20);

class ForkedProgram {
 public:
  ForkedProgram(Workbench& bench, const CleanRun& clean, CaseJudge& judge,
                const std::vector<PlannedCase>& cases, const ClaimCase& claim,
                const TellResult& tell)
      : bench_(bench),
        clean_(clean),
        judge_(judge),
        cases_(cases),
        claim_(claim),
        tell_(tell),
        limit_(limit_of(bench.options(), clean)),
        is_done_(cases.size(), false) {}

  ForkedRun run() {
    plan();
    program_ = bench_.keeper().start(Role::kProgram, bench_.scratch("stderr"));
    bench_.standing = program_;
    serve();
    bench_.standing = 0;
    bench_.keeper().end_all();
    KeptState initial = clean_.files.initial;
    put_files_back(bench_, clean_, initial);
    ForkedRun result;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (!is_done_[i]) {
        result.left.push_back(cases_[i]);
      }
    }
    if (!result.left.empty()) {
      result.reason =
          reason_.empty() ? "its run did not come to their hits" : reason_;
    }
    return result;
  }

 private:
  void plan() {
    bench_.control().begin(bench_.order(Mode::kFork));
    for (const PlannedCase& planned : cases_) {
      const auto& failing = planned.failing;
      bench_.control().add_case(
          name_of(failing.point), failing.hit, failing.action,
          failing.mode == faultinject::sweep::Mode::kPersistent);
    }
  }

  void serve() {
    Control& control = *bench_.control();
    auto last = Clock::now();
    for (;;) {
      const Turn turn = wait_while(control, Turn::kProgram, kMoment);
      stop_if_asked();
      if (turn == Turn::kAtCase) {
        if (!at_case(control)) {
          return;
        }
        last = Clock::now();
        continue;
      }
      if (bench_.keeper().wait(program_, std::chrono::milliseconds(0))) {
        return;
      }
      if (Clock::now() - last > limit_) {
        reason_ = "it did not go on between two cases";
        return;
      }
    }
  }

  void stop_if_asked() const {
    if (StopSignal::came() != 0) {
      throw Stopped();
    }
  }

  // False: the program can't be forked from here on.
  bool at_case(Control& control) {
    const std::size_t index = control.current;
    if (index >= cases_.size() || is_done_[index]) {
      give_turn(control, Turn::kSkip);
      return true;
    }
    if (control.obstacles != 0) {
      reason_ = obstacles_text(control.obstacles);
      return false;
    }
    if (!claim_(cases_[index])) {
      give_turn(control, Turn::kSkip);
      return true;
    }
    KeptState here = bench_.files().take();
    if (!bench_.files().without_inode().empty()) {
      reason_ = bench_.files().without_inode() +
                " lies on another file system than --out, or is somebody "
                "else's, and could not be put back under a program that runs";
      return false;
    }
    bench_.control().clear_report();
    const auto begin = Clock::now();
    give_turn(control, Turn::kFork);
    const std::optional<RunEnd> end = wait_for_child(control, begin);
    if (!end) {
      return false;
    }
    is_done_[index] = true;
    CaseResult result = judge_.judge(cases_[index].failing, *end);
    result.was_forked = true;
    result.verdict.micros =
        std::chrono::duration_cast<std::chrono::microseconds>(end->time)
            .count();
    const auto lost = put_files_back(bench_, clean_, here);
    tell_(cases_[index], std::move(result));
    if (!lost.empty()) {
      reason_ = lost.front() + " could not be put back under the program";
      return false;
    }
    give_turn(control, Turn::kProgram);
    return true;
  }

  std::optional<RunEnd> wait_for_child(Control& control,
                                       Clock::time_point begin) {
    RunEnd end;
    while (wait_while(control, Turn::kFork, kMoment) != Turn::kChildEnded) {
      if (bench_.keeper().wait(program_, std::chrono::milliseconds(0))) {
        reason_ = "it ended while a case of it ran";
        return std::nullopt;
      }
      stop_if_asked();
      const pid_t child = control.report.child;
      const auto spent = Clock::now() - begin;
      if (spent > limit_ && child > 0 && !end.was_hung) {
        end.was_hung = true;
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
      }
      if (spent > 2 * limit_ + std::chrono::seconds(5)) {
        reason_ = "a case of it could not be ended";
        return std::nullopt;
      }
    }
    end.time = Clock::now() - begin;
    end.wait_status = control.report.wait_status;
    end.errors = tail_of(bench_.scratch("case-stderr"));
    return end;
  }

  Workbench& bench_;
  const CleanRun& clean_;
  CaseJudge& judge_;
  const std::vector<PlannedCase>& cases_;
  const ClaimCase& claim_;
  const TellResult& tell_;
  const std::chrono::milliseconds limit_;
  std::vector<bool> is_done_;
  pid_t program_ = 0;
  std::string reason_;
};

}  // namespace

ForkedRun run_forked(Workbench& bench, const CleanRun& clean, CaseJudge& judge,
                     const std::vector<PlannedCase>& cases,
                     const ClaimCase& claim, const TellResult& tell) {
  return ForkedProgram(bench, clean, judge, cases, claim, tell).run();
}

}  // namespace mishap::program
