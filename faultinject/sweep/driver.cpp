#include <mishap/faultinject/suggestion.h>
#include <mishap/faultinject/sweep/baseline.h>
#include <mishap/faultinject/sweep/driver.h>
#include <mishap/faultinject/sweep/enumerate.h>
#include <mishap/faultinject/sweep/known.h>
#include <mishap/faultinject/sweep/output.h>
#include <mishap/faultinject/sweep/pairs.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

namespace mishap::faultinject::sweep {
namespace {

using Clock = std::chrono::steady_clock;

/// One entry point, ready to be swept.
struct Lane {
  Baseline baseline;
  std::vector<Hit> hits;
  PairList pairs;
  /// The number of its first case among those of all lanes.
  std::uint64_t first_case = 0;
};

class Sweep {
 public:
  Sweep(Subject& subject, const Options& options,
        const ProgressFunction& progress)
      : subject_(subject),
        options_(options),
        progress_(progress),
        known_(options.known.empty() ? KnownFindings()
                                     : KnownFindings(options.known)) {}

  Summary run() {
    const Clock::time_point start = Clock::now();
    prepare();
    const std::vector<std::uint64_t> chosen =
        chosen_cases(summary_.cases, options_);
    if (options_.begins) options_.begins();
    output_.emplace(options_.out);
    planned_ = chosen.size();
    auto next = chosen.begin();
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const Lane& lane = lanes_[i];
      EntryPointRow& row = summary_.entry_points[i];
      const std::uint64_t end = lane.first_case + row.cases;
      for (; next != chosen.end() && *next < end; ++next) {
        run_case(lane, row, *next - lane.first_case);
      }
      look_behind_the_end(lane, row, i);
    }
    conclude(Clock::now() - start);
    return std::move(summary_);
  }

 private:
  void prepare() {
    std::set<PointId> points;
    for (const std::string& name : entry_points()) {
      Lane lane{take_baseline(subject_, name), {}, {}, 0};
      lane.hits = chosen_hits(lane.baseline.sequence, options_);
      check_actions(lane.hits, options_);
      lanes_.push_back(std::move(lane));
    }
    if (options_.pairs) scout();
    for (Lane& lane : lanes_) {
      lane.first_case = summary_.cases;
      std::set<PointId> own;
      for (const Hit& hit : lane.hits) own.insert(hit.point);
      points.insert(own.begin(), own.end());
      EntryPointRow row;
      row.name = lane.baseline.entry_point;
      row.points = own.size();
      row.hits = lane.hits.size();
      row.cases = options_.pairs ? lane.pairs.size()
                                 : single_cases(lane.hits, options_);
      row.difference = lane.baseline.difference;
      summary_.hits += row.hits;
      summary_.cases += row.cases;
      summary_.entry_points.push_back(std::move(row));
    }
    summary_.points = points.size();
    if (summary_.cases == 0) refuse_to_sweep_nothing();
  }

  void scout() {
    std::uint64_t planned = 0;
    for (const Lane& lane : lanes_) {
      planned += single_cases(lane.hits, options_);
    }
    std::uint64_t done = 0;
    for (Lane& lane : lanes_) {
      lane.pairs =
          scout_pairs(subject_, lane.baseline, lane.hits, options_, [&] {
            ++done;
            if (options_.scouts) {
              options_.scouts(done, planned);
            }
          });
    }
  }

  [[noreturn]] void refuse_to_sweep_nothing() const {
    if (summary_.hits == 0 && !options_.only) {
      throw SweepError(
          "there is nothing to sweep: no hit of the entry points lies at the "
          "chosen points; look at 'mishap points'");
    }
    if (summary_.hits == 0) {
      throw SweepError("there is no hit " +
                       std::to_string(options_.only->index) + " of '" +
                       options_.only->point + "'; look at 'mishap points'");
    }
    if (options_.only_second) {
      throw SweepError("hit " + std::to_string(options_.only_second->index) +
                       " of '" + options_.only_second->point +
                       "' does not follow the first fault; a sweep of pairs "
                       "finds those that do");
    }
    throw SweepError(
        "there is nothing to sweep: no hit follows a fault at the chosen "
        "points; sweep it without pairs");
  }

  std::vector<std::string> entry_points() {
    if (options_.actions.empty() || options_.modes.empty()) {
      throw SweepError(
          "a sweep needs at least one action and one mode; name such as "
          "throw(runtime) and transient");
    }
    const std::vector<std::string> all = subject_.entry_points();
    if (options_.entry_points.empty()) return all;
    const std::vector<std::string_view> names(all.begin(), all.end());
    for (const std::string& wanted : options_.entry_points) {
      if (std::find(all.begin(), all.end(), wanted) != all.end()) continue;
      throw SweepError("there is no entry point '" + wanted + "'; " +
                       did_you_mean(wanted, names, "there are " + join(names)));
    }
    return options_.entry_points;
  }

  Case numbered(const Lane& lane, const std::string& entry_point,
                std::uint64_t index) const {
    if (!options_.pairs) {
      return case_at(entry_point, lane.hits, options_, index);
    }
    const PairList::Pair pair = lane.pairs.at(index);
    return pair_of(case_at(entry_point, lane.hits, options_, pair.first),
                   {pair.second, may_recover(pair.second.point, options_),
                    pair.first_is_heard});
  }

  static void settle(const Case& failing, Verdict& verdict) {
    if (verdict.outcome == Outcome::kSwallowed && failing.may_succeed()) {
      verdict.outcome =
          verdict.violated.empty() ? Outcome::kRecovered : Outcome::kViolated;
    }
    if (verdict.outcome == Outcome::kHeld && failing.second &&
        !failing.second->first_is_heard && !failing.may_recover) {
      verdict.outcome = Outcome::kSwallowed;
      verdict.note = "the first fault alone never comes out";
    }
  }

  void run_case(const Lane& lane, EntryPointRow& row, std::uint64_t index) {
    const Case failing = numbered(lane, row.name, index);
    Verdict verdict = subject_.run(failing);
    settle(failing, verdict);
    const bool is_known =
        !is_good(verdict.outcome) && known_.covers(failing, verdict);
    row.tally.add(verdict, is_known);
    summary_.tally.add(verdict, is_known);
    add_clauses(verdict);
    output_->write(failing, verdict, is_known);
    ++done_;
    if (progress_) {
      progress_({done_, planned_, failing, verdict,
                 !is_good(verdict.outcome) && !is_known});
    }
  }

  void add_clauses(const Verdict& verdict) {
    for (const std::string& name : verdict.checked) ++clause(name).checked;
    for (const std::string& name : verdict.violated) ++clause(name).violated;
  }

  ClauseRow& clause(const std::string& name) {
    const auto found =
        std::find_if(summary_.clauses.begin(), summary_.clauses.end(),
                     [&](const ClauseRow& row) { return row.name == name; });
    if (found != summary_.clauses.end()) return *found;
    return summary_.clauses.emplace_back(ClauseRow{name, 0, 0});
  }

  // A fault behind the last hit of a point must not fire: else the baseline has
  // not seen everything. These runs are no cases.
  void look_behind_the_end(const Lane& lane, EntryPointRow& row,
                           std::size_t lane_number) {
    if (options_.budget || options_.only) return;
    std::map<PointId, std::uint64_t> last;
    for (const Hit& hit : lane.hits) last[hit.point] = hit.index;
    std::size_t turn = lane_number;
    for (const auto& [point, hits] : last) {
      if (turn++ % options_.shard.count != options_.shard.index - 1) continue;
      const Case probe = make_case(row.name, point, hits + 1,
                                   options_.actions.front(), Mode::kTransient);
      const Verdict verdict = subject_.run(probe);
      if (verdict.outcome == Outcome::kNotFired || !row.difference.empty()) {
        continue;
      }
      row.difference = "'" + std::string(name_of(point)) + "' was hit " +
                       std::to_string(hits) +
                       " times in the baseline and more often later; likely "
                       "cause: state that grows from run to run";
    }
  }

  void conclude(Clock::duration elapsed) {
    summary_.seconds = std::chrono::duration<double>(elapsed).count();
    summary_.exhaustive =
        summary_.tally.ran == summary_.cases &&
        std::all_of(
            summary_.entry_points.begin(), summary_.entry_points.end(),
            [](const EntryPointRow& row) { return row.difference.empty(); });
    output_->finish(summary_, options_);
  }

  Subject& subject_;
  const Options& options_;
  const ProgressFunction& progress_;
  KnownFindings known_;
  std::optional<Output> output_;
  std::vector<Lane> lanes_;
  Summary summary_;
  std::uint64_t planned_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

Summary run_sweep(Subject& subject, const Options& options,
                  const ProgressFunction& progress) {
  return Sweep(subject, options, progress).run();
}

}  // namespace mishap::faultinject::sweep
