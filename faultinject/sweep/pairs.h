#pragma once

#include <mishap/faultinject/sweep/baseline.h>
#include <mishap/faultinject/sweep/case.h>
#include <mishap/faultinject/sweep/options.h>
#include <mishap/faultinject/sweep/subject.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace mishap::faultinject::sweep {

/// The pairs of one entry point, in order: for each single case, by its number,
/// the hits that follow it.
class PairList {
 public:
  struct Pair {
    /// The number of the first fault among the single cases.
    std::uint64_t first = 0;
    bool first_is_heard = false;
    Hit second;
  };

  /// To be called in ascending order of `first`.
  void add(std::uint64_t first, bool first_is_heard,
           const std::vector<Hit>& seconds);

  std::uint64_t size() const { return seconds_.size(); }
  /// @throws std::out_of_range
  Pair at(std::uint64_t index) const;

 private:
  struct First {
    std::uint64_t number = 0;
    std::uint64_t begin = 0;
    bool is_heard = false;
  };
  std::vector<First> firsts_;
  std::vector<Hit> seconds_;
};

/// The hits that follow the fault of `first` in `sequence`, the course of a run
/// with that fault in force, and that can take its action. A persistent fault
/// takes all later hits of its own point itself: they are left out.
std::vector<Hit> hits_after(const Case& first,
                            const std::vector<PointId>& sequence);

/// Runs each single case of an entry point once to see what follows its fault.
///
/// A run that differs from the baseline before its fault strikes gives no pairs
/// and is noted in `baseline.difference`. `after_each` is called after every
/// run; what it or the subject throws is passed on.
PairList scout_pairs(Subject& subject, Baseline& baseline,
                     const std::vector<Hit>& hits, const Options& options,
                     const std::function<void()>& after_each);

}  // namespace mishap::faultinject::sweep
