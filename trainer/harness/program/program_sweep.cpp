#include <mishap/faultinject/sweep/known.h>
#include <mishap/faultinject/sweep/output.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/harness/program/case_record.h>
#include <mishap/trainer/harness/program/catch_line.h>
#include <mishap/trainer/harness/program/descendants.h>
#include <mishap/trainer/harness/program/jobs.h>
#include <mishap/trainer/harness/program/program_report.h>
#include <mishap/trainer/harness/program/program_sweep.h>
#include <mishap/trainer/harness/program/run_cases.h>
#include <mishap/trainer/harness/program/stop_signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

namespace mishap::program {
namespace {

namespace sweep = faultinject::sweep;
using Clock = std::chrono::steady_clock;

// Reading debug information anew for each case would take longer than it: a
// small share of the time may go there.
constexpr std::size_t kTogether = 2'000;
constexpr auto kShortestWait = std::chrono::seconds(3);
constexpr int kTimesAsLong = 10;

// Takes the results, names their frames together, writes and counts them.
class Results {
 public:
  Results(const ProgramOptions& options, const CleanRun& clean,
          const CasePlan& plan, FrameNames& names, CaseRecords& records,
          ProgramReport& report)
      : options_(options),
        plan_(plan),
        names_(names),
        records_(records),
        report_(report),
        known_(options.sweep.known.empty()
                   ? sweep::KnownFindings()
                   : sweep::KnownFindings(options.sweep.known)),
        output_(options.sweep.out) {
    sweep::EntryPointRow row;
    row.name = kEntryPoint;
    row.points = plan.points;
    row.hits = plan.hits;
    row.cases = plan.total;
    row.difference = clean.difference;
    summary_.entry_points.push_back(row);
    summary_.must_repeat = false;
    summary_.points = plan.points;
    summary_.hits = plan.hits;
    summary_.cases = plan.total;
  }

  void add(CaseResult result) {
    ++done_;
    bad_ += sweep::is_good(result.verdict.outcome) ? 0 : 1;
    report_.progress(done_, bad_, std::string(name_of(result.failing.point)));
    waiting_.push_back(std::move(result));
    if (waiting_.size() >= kTogether || Clock::now() - last_ > wait_) {
      flush();
    }
  }

  void flush() {
    const auto begin = Clock::now();
    std::vector<Place> places;
    for (const CaseResult& result : waiting_) {
      for (const auto* list :
           {&result.story.hit_frames, &result.story.throw_frames,
            &result.story.catch_frames}) {
        places.insert(places.end(), list->begin(), list->end());
      }
    }
    names_.look_up(places);
    wait_ = std::max<Clock::duration>(kShortestWait,
                                      kTimesAsLong * (Clock::now() - begin));
    for (CaseResult& result : waiting_) {
      write(result);
    }
    waiting_.clear();
    last_ = Clock::now();
  }

  // Some cases have no verdict.
  void lose(const std::string& sentence) {
    std::string& difference = summary_.entry_points.front().difference;
    difference += (difference.empty() ? "" : "; ") + sentence;
    summary_.must_repeat = true;
  }

  const sweep::Summary& finish(std::chrono::nanoseconds time) {
    flush();
    summary_.seconds = std::chrono::duration<double>(time).count();
    summary_.exhaustive = summary_.tally.ran == plan_.total &&
                          summary_.entry_points.front().difference.empty();
    summary_.entry_points.front().tally = summary_.tally;
    records_.finish(summary_.exit_status() == 0);
    output_.finish(summary_, options_.sweep);
    return summary_;
  }

 private:
  void write(CaseResult& result) {
    sweep::Verdict& verdict = result.verdict;
    if (result.story.has_fired) {
      verdict.record_id = records_.append(result, names_);
    }
    const auto caught = catch_line(result.story, names_);
    if (verdict.outcome == sweep::Outcome::kSwallowed && caught) {
      verdict.note += "; it went on in " + text_of(*caught);
    }
    const bool is_known = !sweep::is_good(verdict.outcome) &&
                          known_.covers(result.failing, verdict);
    output_.write(result.failing, verdict, is_known);
    summary_.tally.add(verdict, is_known);
    count_clauses(verdict);
    report_.add(result, names_, is_known);
  }

  void count_clauses(const sweep::Verdict& verdict) {
    const auto row_of = [&](const std::string& name) -> sweep::ClauseRow& {
      for (sweep::ClauseRow& row : summary_.clauses) {
        if (row.name == name) {
          return row;
        }
      }
      return summary_.clauses.emplace_back(sweep::ClauseRow{name, 0, 0});
    };
    for (const std::string& name : verdict.checked) {
      ++row_of(name).checked;
    }
    for (const std::string& name : verdict.violated) {
      ++row_of(name).violated;
    }
  }

  const ProgramOptions& options_;
  const CasePlan& plan_;
  FrameNames& names_;
  CaseRecords& records_;
  ProgramReport& report_;
  sweep::KnownFindings known_;
  sweep::Output output_;
  sweep::Summary summary_;
  std::vector<CaseResult> waiting_;
  Clock::time_point last_ = Clock::now();
  Clock::duration wait_ = kShortestWait;
  std::uint64_t done_ = 0;
  std::uint64_t bad_ = 0;
};

void remark_on(const ProgramOptions& options, const CleanRun& clean,
               const CasePlan& plan, ProgramReport& report) {
  for (const std::string& remark : clean.remarks) {
    report.remark(remark);
  }
  if (!clean.difference.empty()) {
    report.remark(
        "two runs with nothing failing differ, so the sweep is not "
        "exhaustive: " +
        clean.difference);
  }
  if (plan.remembered > 0) {
    report.remark(std::to_string(plan.remembered) +
                  " cases are left out, which earlier sweeps tried; --stacks " +
                  options.stacks + " names them");
  }
  if (clean.seen.has_overflown) {
    report.remark(
        "the program has more points, stacks or files than the "
        "tables hold; what did not fit is not swept");
  }
  if (!clean.seen.torch_problem.empty()) {
    report.remark(clean.seen.torch_problem);
  }
  if (clean.leaves_children) {
    report.remark(
        "the program leaves processes behind when nothing fails, so "
        "those of a case are not held against it");
  }
  if (clean.files.has_random_names) {
    report.remark(
        "the program leaves files under names that differ from run "
        "to run, so new files are not held against it");
  }
  if (std::getenv("OMP_NUM_THREADS") == nullptr ||
      std::getenv("MKL_NUM_THREADS") == nullptr) {
    report.remark(
        "OMP_NUM_THREADS=1 and MKL_NUM_THREADS=1 are set for the "
        "program where they were not, since a program with a pool "
        "of threads can't be forked");
  }
}

class ProgramSweep {
 public:
  ProgramSweep(Workbench& bench, const ProgramOptions& options)
      : bench_(bench), options_(options), names_(bench.modules()) {}

  int run(bool json) {
    StackMemory memory =
        options_.stacks.empty() ? StackMemory() : StackMemory(options_.stacks);
    clean_ = run_clean(bench_);
    is_known_ = true;
    if (clean_.seen.hits == 0) {
      throw InputError(no_hits());
    }
    std::vector<std::string> keys;
    if (!options_.stacks.empty()) {
      keys = stack_keys(clean_.seen.stacks, names_, bench_.modules());
    }
    const CasePlan plan = plan_cases(clean_.seen, options_, memory, keys);
    CaseRecords records(options_.sweep.out.string(), options_,
                        bench_.modules());
    ProgramReport report(options_, clean_, plan);
    remark_on(options_, clean_, plan, report);
    Results results(options_, clean_, plan, names_, records, report);
    const auto tell = [&](const PlannedCase& planned, CaseResult result) {
      if (planned.stack < keys.size()) {
        memory.add(keys[planned.stack], planned.failing);
      }
      results.add(std::move(result));
    };
    const auto begin = Clock::now();
    try_all(plan, tell, results, report);
    const sweep::Summary& summary = results.finish(Clock::now() - begin);
    memory.save();
    report.print(summary, json);
    // Also where it came when all cases were done: it is never swallowed.
    if (StopSignal::came() != 0) {
      std::fprintf(stderr,
                   "mishap: the sweep was stopped after %llu of %zu cases; "
                   "they are in %s, and the program's files are as before\n",
                   static_cast<unsigned long long>(summary.tally.ran),
                   plan.cases.size(), options_.sweep.out.c_str());
      return 128 + StopSignal::came();
    }
    return summary.exit_status();
  }

  /// Ends all and puts the files back, whatever went wrong.
  void abandon(bool is_keeper_lost) {
    bench_.standing = 0;
    if (is_keeper_lost) {
      kill_descendants(getpid());
    } else {
      bench_.keeper().end_all();
    }
    if (is_known_) {
      KeptState initial = clean_.files.initial;
      put_files_back(bench_, clean_, initial);
    }
  }

 private:
  std::string no_hits() const {
    const std::string& program = options_.words.front();
    return bench_.control()->images == 0
               ? "the agent does not work in " + program +
                     ": it is static, set-user-id, of 32 bits or built with a "
                     "sanitizer, or libmishap_preload.so is not beside mishap"
               : program + " hit no point" +
                     (options_.point_globs.empty()
                          ? ""
                          : " that matches --points; 'mishap points -- " +
                                program + "' lists them");
  }

  // Until a person stops it.
  void try_all(const CasePlan& plan, const TellResult& tell, Results& results,
               ProgramReport& report) {
    if (!options_.follow.empty()) {
      report.remark(
          "cases are run again, not forked, with --follow: what comes of a "
          "fault in a helper is told by the program that started it");
    }
    try {
      options_.jobs > 1 ? try_in_jobs(plan, tell, results, report)
                        : try_alone(plan, tell, report);
    } catch (const Stopped&) {
      abandon(false);
    }
  }

  void try_in_jobs(const CasePlan& plan, const TellResult& tell,
                   Results& results, ProgramReport& report) {
    const JobsEnd end = run_jobs(bench_, clean_, plan, tell);
    if (end.again > 0 && !end.reason.empty()) {
      remark_again(end.again, end.reason, report);
    }
    remark_states(end.left_states_out, report);
    for (const std::string& sentence : end.lost) {
      results.lose(sentence);
      report.remark(sentence);
    }
  }

  void try_alone(const CasePlan& plan, const TellResult& tell,
                 ProgramReport& report) {
    CaseJudge judge(bench_, clean_);
    std::vector<PlannedCase> left = plan.cases;
    if (options_.forks()) {
      const auto claim = [](const PlannedCase&) { return true; };
      ForkedRun forked = run_forked(bench_, clean_, judge, left, claim, tell);
      left = std::move(forked.left);
      if (!left.empty()) {
        remark_again(left.size(), forked.reason, report);
      }
    }
    for (const PlannedCase& planned : left) {
      tell(planned, run_single(bench_, clean_, judge, planned));
    }
    remark_states(judge.has_left_states_out(), report);
  }

  static void remark_again(std::size_t cases, const std::string& reason,
                           ProgramReport& report) {
    report.remark(std::to_string(cases) +
                  " cases were run again instead of forked: " + reason);
  }

  static void remark_states(bool were_left_out, ProgramReport& report) {
    if (were_left_out) {
      report.remark("the program was run again on the first " +
                    std::to_string(CaseJudge::kMaxStates) +
                    " states of its files only");
    }
  }

  Workbench& bench_;
  const ProgramOptions& options_;
  FrameNames names_;
  CleanRun clean_;
  bool is_known_ = false;
};

}  // namespace

int sweep_program(const ProgramOptions& options, bool json) {
  const StopSignal listening;
  check_jobs(options);
  Workbench bench(options, options.sweep.out.string());
  ProgramSweep sweep(bench, options);
  try {
    return sweep.run(json);
  } catch (const Stopped&) {
    sweep.abandon(false);
    throw Interrupted(StopSignal::came(),
                      "the sweep was stopped before its first case");
  } catch (const KeeperLost&) {
    sweep.abandon(true);
    throw;
  } catch (...) {
    sweep.abandon(false);
    throw;
  }
}

CleanRun count_program(const ProgramOptions& options, const std::string& out) {
  const StopSignal listening;
  Workbench bench(options, out);
  try {
    return run_clean(bench);
  } catch (const Stopped&) {
    throw Interrupted(StopSignal::came(), "stopped");
  }
}

}  // namespace mishap::program
